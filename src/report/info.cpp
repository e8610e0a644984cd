#include "report/info.h"

#include <algorithm>

#include "analysis/device_load.h"
#include "base/saturate.h"
#include "fmt/format.h"
#include "report/device_name.h"
#include "report/fact_lines.h"
#include "report/info_memory.h"
#include "report/json.h"
#include "report/paths.h"
#include "report/source_kind.h"
#include "report/unusable_memory.h"
#include "text/catalogue.h"
#include "text/format.h"
#include "text/table.h"
#include "text/terminal.h"
#include "text/utf8.h"
#include "text/wrap.h"

namespace vramscope {

namespace {

constexpr std::size_t kIndent = 2;

std::string format_line(const Source& source) {
  std::string text = source.format;
  if (!source.version.empty()) text += ", " + source.version;
  if (source.compressed) text += std::string(", ") + tr("compressed");
  const std::string size = format_bytes(source.bytes);
  // A pickle is no text, and neither is a recording.
  if (source.memory_state || is_recording_of_devices(source)) return text + ", " + size;
  return text + ", " + fmt::format(fmt::runtime(tr("{size} of text")), fmt::arg("size", size));
}

std::string processes_line(const Trace& trace) {
  std::vector<std::string> names;
  std::vector<bool> has_host(trace.tracks.size(), false);
  for (TrackId id = 0; id < trace.tracks.size(); ++id) {
    const Track& track = trace.tracks[id];
    bool is_host = false;
    for (std::uint32_t at = track.begin; at < track.end && !is_host; ++at) {
      const SpanKind kind = trace.kind(trace.spans_by_time[at]);
      is_host = is_host_range(kind) || kind == SpanKind::python_call;
    }
    if (!is_host) continue;
    std::string name(trace.strings.view(track.pid));
    const std::string_view program = trace.strings.view(track.process_name);
    if (!program.empty()) name = fmt::format("{} ({})", program, name);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + printable(name);
  return text;
}

std::string rank_line(const Environment& environment) {
  if (!environment.rank) return {};
  std::string text = environment.world_size
                         ? fmt::format(fmt::runtime(tr("{rank} of {size}")), fmt::arg("rank", *environment.rank),
                                       fmt::arg("size", *environment.world_size))
                         : fmt::format("{}", *environment.rank);
  if (!environment.backend.empty()) text += " (" + printable(environment.backend) + ")";
  return text;
}

std::string steps_line(const Trace& trace) {
  if (trace.steps.empty()) return tr("none marked (call prof.step() once a step to mark them)");
  const auto [first, last] = std::minmax_element(trace.steps.begin(), trace.steps.end(),
                                                 [](const Step& a, const Step& b) { return a.number < b.number; });
  std::int64_t sum_ns = 0;
  for (const Step& step : trace.steps)
    sum_ns += (step.end_ns - step.begin_ns) / static_cast<std::int64_t>(trace.steps.size());
  if (trace.steps.size() == 1) {
    return fmt::format(fmt::runtime(tr("1 (number {number}, {time})")), fmt::arg("number", first->number),
                       fmt::arg("time", format_duration(sum_ns)));
  }
  return fmt::format(fmt::runtime(tr("{count} (number {first} to {last}, {mean} each on average)")),
                     fmt::arg("count", format_count(static_cast<std::int64_t>(trace.steps.size()))),
                     fmt::arg("first", first->number), fmt::arg("last", last->number),
                     fmt::arg("mean", format_duration(sum_ns)));
}

std::string devices_table(const Source& source) {
  TextTable table;
  table.columns = {{tr("Device"), Align::right, Shrink::no},         {tr("Name"), Align::left, Shrink::end, 0, 16},
                   {tr("Memory"), Align::right, Shrink::no, 4},      {tr("Kernels"), Align::right, Shrink::no, 1},
                   {tr("Kernel time"), Align::right, Shrink::no, 5}, {tr("Copied"), Align::right, Shrink::no, 6},
                   {tr("Busy"), Align::right, Shrink::no, 2},        {tr("Active span"), Align::right, Shrink::no, 7},
                   {tr("Busy share"), Align::right, Shrink::no}};
  std::size_t idle = 0;
  for (const DeviceLoad& load : device_loads(source)) {
    const bool has_work = load.span_ns > 0 || load.kernels > 0 || load.memcpy_bytes > 0;
    if (!has_work) {
      ++idle;
      if (idle > 1 || source.environment.devices.size() > 4) continue;
    }
    std::string memory = tr("N/A");
    for (const DeviceInfo& info : source.environment.devices) {
      if (info.id == load.id && info.total_memory_bytes) memory = format_bytes(*info.total_memory_bytes);
    }
    const std::string name = load.name.empty()
                                 ? std::string(load.is_listed ? tr("(no name)") : tr("(not listed in the file)"))
                                 : printable(load.name);
    table.rows.push_back({load.id < 0 ? std::string(tr("N/A")) : fmt::format("{}", load.id), name, memory,
                          format_count(load.kernels), format_duration(load.kernel_ns), format_bytes(load.memcpy_bytes),
                          format_duration(load.busy_ns), format_duration(load.span_ns),
                          load.span_ns > 0
                              ? format_share(static_cast<double>(load.busy_ns) / static_cast<double>(load.span_ns))
                              : std::string(tr("N/A"))});
  }
  std::string text = table.rows.empty() ? std::string() : render(table, table_columns(), kIndent);
  const std::size_t shown_idle = idle > 0 && source.environment.devices.size() <= 4 ? 1 : 0;
  if (idle > shown_idle) {
    const std::size_t count = idle - shown_idle;
    const std::string more = tr_n("and {count} device without recorded work",
                                  "and {count} devices without recorded work", static_cast<long>(count));
    text += wrap(fmt::format(fmt::runtime(more), fmt::arg("count", count)), line_columns(), kIndent);
  }
  return text;
}

std::string categories_table(const Source& source) {
  TextTable table;
  table.columns = {{tr("Category"), Align::left, Shrink::end}, {tr("Events"), Align::right}};
  std::vector<CategoryCount> counts = source.events_by_category;
  std::stable_sort(counts.begin(), counts.end(),
                   [](const CategoryCount& a, const CategoryCount& b) { return a.events > b.events; });
  for (const CategoryCount& count : counts) table.rows.push_back({printable(count.name), format_count(count.events)});
  return render(table, table_columns(), kIndent);
}

std::string trouble_table(const Source& source) {
  TextTable table;
  table.columns = {{tr("Trouble"), Align::left, Shrink::wrap, 0, 24},
                   {tr("Count"), Align::right},
                   {tr("First at byte"), Align::right, Shrink::no, 1}};
  for (const Trouble& trouble : source.trouble) {
    table.rows.push_back({trouble.name, format_count(trouble.count), fmt::format("{}", trouble.first_offset)});
  }
  return render(table, table_columns(), kIndent);
}

std::string memory_events(const MemoryEvents& memory) {
  const auto count = static_cast<std::int64_t>(memory.size());
  return fmt::format(
      fmt::runtime(tr_n("{count} allocation or free", "{count} allocations and frees", static_cast<long>(count))),
      fmt::arg("count", format_count(count)));
}

// A file that is no trace.
std::string memory_source_text(const Source& source) {
  std::string text = wrap(paint(shown_path(source.path), Colour::bold), line_columns(), 0, kIndent);
  FactLines facts(Align::left);
  facts.add(tr("Format"), format_line(source));
  add_memory_facts(facts, source);
  facts.add(tr("Trouble"), source.trouble.empty() ? tr("none: the file is whole") : tr("see below"));
  text += facts.text();
  if (const std::string table = memory_facts_table(source); !table.empty()) text += "\n" + table;
  // A log of nvidia-smi may tell some two hundred fields; the JSON has them all.
  constexpr std::size_t kMostFields = 16;
  const bool is_short = !is_log_of_devices(source) || source.events_by_category.size() <= kMostFields;
  if (!source.events_by_category.empty() && is_short) text += "\n" + categories_table(source);
  if (!source.trouble.empty()) text += "\n" + trouble_table(source);
  return text;
}

std::string source_text(const Source& source) {
  if (kind_of(source) != SourceKind::trace) return memory_source_text(source);
  std::string text = wrap(paint(shown_path(source.path), Colour::bold), line_columns(), 0, kIndent);
  FactLines facts(Align::left);
  facts.add(tr("Format"), format_line(source));
  if (const std::string processes = processes_line(source.trace); !processes.empty())
    facts.add(tr("Process"), processes);
  if (!source.environment.host_name.empty()) facts.add(tr("Host"), printable(source.environment.host_name));
  if (const std::string rank = rank_line(source.environment); !rank.empty()) facts.add(tr("Rank"), rank);
  facts.add(tr("Events"), fmt::format(fmt::runtime(tr("{events}, and {metadata} of metadata")),
                                      fmt::arg("events", format_count(source.events)),
                                      fmt::arg("metadata", format_count(source.metadata_events))));
  facts.add(tr("Time"), source.start_ns && source.end_ns
                            ? format_duration(saturating_sub(*source.end_ns, *source.start_ns))
                            : std::string(tr("N/A")));
  facts.add(tr("Steps"), steps_line(source.trace));
  if (source.trace.memory.size() > 0) {
    facts.add(tr("Memory"),
              fmt::format(fmt::runtime(tr_n("{events}, on {devices} device", "{events}, on {devices} devices",
                                            static_cast<long>(count_memory_devices(source.trace)))),
                          fmt::arg("events", memory_events(source.trace.memory)),
                          fmt::arg("devices", count_memory_devices(source.trace))));
  } else if (const std::string unusable = unusable_memory_text(source); !unusable.empty()) {
    facts.add(tr("Memory"), unusable);
  } else {
    facts.add(tr("Memory"), tr("no allocations recorded (profile with profile_memory=True)"));
  }
  facts.add(tr("Trouble"), source.trouble.empty() ? tr("none: the file is whole") : tr("see below"));
  text += facts.text();
  if (const std::string devices = devices_table(source); !devices.empty()) text += "\n" + devices;
  if (!source.events_by_category.empty()) text += "\n" + categories_table(source);
  if (!source.trouble.empty()) text += "\n" + trouble_table(source);
  return text;
}

void write_devices(JsonWriter& json, const Source& source) {
  json.key("devices").begin_array();
  for (const DeviceLoad& load : device_loads(source)) {
    json.begin_object();
    if (load.id >= 0) {
      json.member("id", std::int64_t{load.id});
    } else {
      json.key("id").null();
    }
    json.member("name", load.name);
    for (const DeviceInfo& info : source.environment.devices) {
      if (info.id == load.id) json.member("total_memory_bytes", info.total_memory_bytes);
    }
    json.member("kernels", load.kernels).member("kernel_ns", load.kernel_ns).member("memcpy_bytes", load.memcpy_bytes);
    json.member("busy_ns", load.busy_ns).member("span_ns", load.span_ns).end_object();
  }
  json.end_array();
}

void write_source(JsonWriter& json, const Source& source) {
  json.begin_object().member("path", source.path).member("format", source.format).member("version", source.version);
  json.member("compressed", source.compressed).member("text_bytes", source.bytes);
  json.member("events", source.events).member("metadata_events", source.metadata_events);
  json.key("events_by_category").begin_object();
  for (const CategoryCount& count : source.events_by_category) json.member(count.name, count.events);
  json.end_object();
  json.member("start_ns", source.start_ns).member("end_ns", source.end_ns);
  json.member("steps", static_cast<std::int64_t>(source.trace.steps.size()));
  json.member("memory_events", static_cast<std::int64_t>(source.trace.memory.size()));
  json.member("rank", source.environment.rank).member("world_size", source.environment.world_size);
  if (!source.environment.backend.empty()) json.member("backend", source.environment.backend);
  write_devices(json, source);
  write_memory_facts(json, source);
  json.key("trouble").begin_array();
  for (const Trouble& trouble : source.trouble) {
    json.begin_object().member("name", trouble.name).member("count", trouble.count);
    json.member("first_offset", trouble.first_offset).end_object();
  }
  json.end_array().end_object();
}

}  // namespace

std::string info_text(const Case& input) {
  std::string text;
  for (const Source& source : input.sources) text += (text.empty() ? "" : "\n") + source_text(source);
  return text;
}

std::string info_json(const Case& input) {
  JsonWriter json;
  json.begin_object().key("sources").begin_array();
  for (const Source& source : input.sources) write_source(json, source);
  json.end_array().end_object();
  return json.text();
}

}  // namespace vramscope
