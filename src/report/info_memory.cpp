#include "report/info_memory.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analysis/memory_sums.h"
#include "report/info_device_log.h"
#include "report/phrases.h"
#include "report/snapshot_text.h"
#include "report/source_kind.h"
#include "text/date.h"
#include "text/table.h"
#include "text/terminal.h"
#include "text/utf8.h"

namespace vramscope {

namespace {

constexpr std::int64_t kYear2000_ns = 946'684'800'000'000'000;  // earlier times are no dates

struct DeviceFacts {
  std::int64_t reserved_bytes = 0;
  std::int64_t allocated_bytes = 0;  // rounded sizes
  std::optional<std::int64_t> first_ns;
  std::optional<std::int64_t> last_ns;
};

DeviceFacts facts_of(const AllocatorDevice& device) {
  DeviceFacts facts;
  for (const Segment& segment : device.segments) {
    facts.reserved_bytes = add_bytes(facts.reserved_bytes, segment.total_bytes);
  }
  for (const Block& block : device.blocks) {
    if (block.state == BlockState::allocated) facts.allocated_bytes = add_bytes(facts.allocated_bytes, block.bytes);
  }
  for (std::size_t i = 0; i < device.log.size(); ++i) {
    const std::int64_t time_ns = device.log.time_ns[i];
    if (time_ns == kUnknown) continue;
    if (!facts.first_ns) facts.first_ns = time_ns;
    facts.last_ns = time_ns;
  }
  return facts;
}

std::string date_text(std::int64_t time_ns) {
  return time_ns > kYear2000_ns ? format_utc(time_ns) : std::string();
}

void add_snapshot_facts(FactLines& facts, const Source& source) {
  const MemoryState& state = *source.memory_state;
  std::int64_t entries = 0;
  bool has_times = false;
  for (const AllocatorDevice& device : state.devices) {
    entries += static_cast<std::int64_t>(device.log.size());
    has_times = has_times || facts_of(device).first_ns.has_value();
  }
  facts.add(tr("Content"), tr("a snapshot of PyTorch's CUDA memory allocator"));
  std::string log =
      entries == 0 ? std::string(tr("none recorded")) : counted(NN_("{count} entry", "{count} entries"), entries);
  if (entries > 0 && !has_times) log += std::string(", ") + tr("without times");
  if (has_times && source.start_ns && source.end_ns) {
    log +=
        filled(tr(" over {time}"), fmt::arg("time", format_duration(subtract_bytes(*source.end_ns, *source.start_ns))));
    if (const std::string date = date_text(*source.end_ns); !date.empty()) {
      log += filled(tr(", until {date}"), fmt::arg("date", date));
    }
  }
  facts.add(tr("Log"), log);
  if (!state.annotations.empty()) {
    facts.add(tr("Annotations"), format_count(static_cast<std::int64_t>(state.annotations.size())));
  }
  std::string settings;
  for (const std::string& each : changed_settings(state)) settings += (settings.empty() ? "" : ", ") + printable(each);
  if (state.settings.empty()) {
    settings = tr("not in the file");
  } else if (settings.empty()) {
    settings = tr("all at their defaults");
  }
  facts.add(tr("Settings"), settings);
}

void add_log_facts(FactLines& facts, const Source& source) {
  std::set<std::pair<std::string, std::int32_t>> devices;
  for (const AllocatorStats& sample : source.allocator_stats) devices.insert({"cuda", sample.device});
  std::int64_t messages = 0;
  std::set<std::string> frameworks;
  for (const OutOfMemory& event : source.out_of_memory) {
    messages = add_bytes(messages, event.count);
    frameworks.insert(event.framework);
    if (event.device) devices.insert({event.device_type, *event.device});
  }
  facts.add(tr("Content"), tr("a log"));
  facts.add(tr("Memory summaries"), format_count(static_cast<std::int64_t>(source.allocator_stats.size())));
  std::string text = format_count(messages);
  std::string names;
  for (const std::string& name : frameworks) names += (names.empty() ? "" : ", ") + printable(name);
  if (!names.empty()) text += " (" + names + ")";
  facts.add(tr("Out of memory"), text);
  std::string list;
  for (const auto& [type, index] : devices) {
    list += (list.empty() ? "" : ", ") + (index < 0 ? "host" : printable(type) + ":" + std::to_string(index));
  }
  facts.add(tr("Devices"), list.empty() ? std::string(tr("not told")) : list);
  std::string settings;
  for (const auto& [name, value] : source.environment.settings) {
    settings += (settings.empty() ? "" : ", ") + printable(name) + "=" + printable(value);
  }
  if (!settings.empty()) facts.add(tr("Settings"), settings);
}

void add_timeline_facts(FactLines& facts, const Source& source) {
  const CategoryTimeline& timeline = *source.memory_timeline;
  const bool is_recording = is_recording_of_devices(source);
  facts.add(tr("Content"), is_recording
                               ? tr("samples of devices and processes; `vramscope status --replay FILE` judges "
                                    "them, `vramscope watch --replay FILE` tells what happened")
                               : tr("a memory timeline by category"));
  std::string points =
      counted(NN_("{count} point", "{count} points"), static_cast<std::int64_t>(timeline.time_ns.size()));
  if (!timeline.time_ns.empty()) {
    points += filled(tr(" over {time}"),
                     fmt::arg("time", format_duration(subtract_bytes(timeline.time_ns.back(), timeline.time_ns[0]))));
  }
  facts.add(tr("Points"), points);
  if (is_recording) {
    for (const auto& [name, value] : source.environment.settings) facts.add(printable(name), printable(value));
    std::string devices;
    for (const DeviceInfo& device : source.environment.devices) {
      devices += (devices.empty() ? "" : ", ") + filled("{} {}", device.id, printable(device.name));
    }
    facts.add(tr("Devices"), devices);
    return;
  }
  facts.add(tr("Categories"), format_count(static_cast<std::int64_t>(timeline.categories.size())));
}

void write_snapshot_facts(JsonWriter& json, const MemoryState& state) {
  json.key("snapshot").begin_object();
  json.member("annotations", static_cast<std::int64_t>(state.annotations.size()));
  json.key("settings").begin_object();
  for (const auto& [name, value] : state.settings) json.member(name, std::string_view(value));
  json.end_object().key("devices").begin_array();
  for (const AllocatorDevice& device : state.devices) {
    const DeviceFacts facts = facts_of(device);
    json.begin_object().member("device", std::string_view(device.name()));
    json.member("segments", static_cast<std::int64_t>(device.segments.size()));
    json.member("blocks", static_cast<std::int64_t>(device.blocks.size()));
    json.member("entries", static_cast<std::int64_t>(device.log.size()));
    json.member("reserved_bytes", facts.reserved_bytes).member("allocated_bytes", facts.allocated_bytes);
    json.member("first_time_ns", facts.first_ns).member("last_time_ns", facts.last_ns).end_object();
  }
  json.end_array().end_object();
}

}  // namespace

void add_memory_facts(FactLines& facts, const Source& source) {
  if (is_log_of_devices(source)) return add_device_log_facts(facts, source);
  switch (kind_of(source)) {
    case SourceKind::snapshot:
      return add_snapshot_facts(facts, source);
    case SourceKind::log:
      return add_log_facts(facts, source);
    case SourceKind::timeline:
      return add_timeline_facts(facts, source);
    case SourceKind::trace:
      break;
  }
}

std::string memory_facts_table(const Source& source) {
  if (is_log_of_devices(source)) return device_log_table(source);
  if (!source.memory_state) return {};
  TextTable table;
  table.columns = {{tr("Device"), Align::left},
                   {tr("Reserved"), Align::right},
                   {tr("Allocated"), Align::right, Shrink::no, 1},
                   {tr("Segments"), Align::right, Shrink::no, 4},
                   {tr("Blocks"), Align::right, Shrink::no, 3},
                   {tr("Log entries"), Align::right, Shrink::no, 2}};
  for (const AllocatorDevice& device : source.memory_state->devices) {
    const DeviceFacts facts = facts_of(device);
    table.rows.push_back({device.name(), format_bytes(facts.reserved_bytes), format_bytes(facts.allocated_bytes),
                          format_count(static_cast<std::int64_t>(device.segments.size())),
                          format_count(static_cast<std::int64_t>(device.blocks.size())),
                          format_count(static_cast<std::int64_t>(device.log.size()))});
  }
  return table.rows.empty() ? std::string() : render(table, table_columns(), 2);
}

void write_memory_facts(JsonWriter& json, const Source& source) {
  if (is_log_of_devices(source)) return write_device_log_facts(json, source);
  switch (kind_of(source)) {
    case SourceKind::snapshot:
      json.member("kind", "snapshot");
      return write_snapshot_facts(json, *source.memory_state);
    case SourceKind::log: {
      std::int64_t messages = 0;
      for (const OutOfMemory& event : source.out_of_memory) messages = add_bytes(messages, event.count);
      json.member("kind", "log").key("log").begin_object();
      json.member("samples", static_cast<std::int64_t>(source.allocator_stats.size()));
      json.member("out_of_memory", messages).end_object();
      return;
    }
    case SourceKind::timeline:
      json.member("kind", "timeline").key("timeline").begin_object();
      json.member("points", static_cast<std::int64_t>(source.memory_timeline->time_ns.size()));
      json.key("categories").begin_array();
      for (const std::string& name : source.memory_timeline->categories) json.value(std::string_view(name));
      json.end_array().end_object();
      return;
    case SourceKind::trace:
      break;
  }
}

}  // namespace vramscope
