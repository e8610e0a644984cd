#include <algorithm>

#include "analysis/memory_thin.h"
#include "report/json.h"
#include "report/memory.h"
#include "report/memory_log.h"
#include "report/snapshot_growth.h"
#include "report/snapshot_json.h"
#include "report/source_kind.h"

namespace vramscope {

namespace {

const char* name_of(CurveKind kind) {
  switch (kind) {
    case CurveKind::written:
      return "written";
    case CurveKind::partly_written:
      return "partly_written";
    case CurveKind::relative:
      break;
  }
  return "relative";
}

const char* name_of(LiveBy by) {
  switch (by) {
    case LiveBy::op:
      return "op";
    case LiveBy::stack:
      return "stack";
    case LiveBy::step:
      return "step";
    case LiveBy::op_and_stack:
    case LiveBy::outer_op_and_stack:
      break;
  }
  return "op_and_stack";
}

// Writes the parts of one device's object.
class DeviceJson {
 public:
  DeviceJson(JsonWriter& json, const Source& source, const SourceMemory& facts, const DeviceMemory& memory,
             const MemoryOptions& options)
      : json_(json), source_(source), facts_(facts), memory_(memory), options_(options) {}

  void write() {
    json_.begin_object();
    json_.member("device", std::string_view(source_.trace.memory_devices[memory_.device].name()));
    const std::string_view process = source_.trace.process_sharing(memory_.device);
    if (!process.empty()) json_.member("process", process);
    json_.member("curve", name_of(memory_.kind));
    write_sums();
    const std::vector<LiveBlock> blocks = live_after(source_.trace, facts_.pairs, memory_, memory_.peak + 1);
    json_.key("peak").begin_object();
    json_.member("time_ns", source_.trace.memory.time_ns[memory_.events[memory_.peak]]);
    json_.member("bytes", memory_.peak_bytes());
    json_.end_object();
    json_.key("live_at_peak");
    write_groups(blocks, LiveBy::op_and_stack);
    json_.member("live_known", memory_.has_addresses());
    json_.member("before_recording_bytes", before_recording_bytes(memory_, memory_.peak + 1, sum_of(blocks)));
    if (options_.by || options_.at) write_live();
    write_steps();
    write_points();
    json_.end_object();
  }

 private:
  void write_sums() {
    json_.member("begin_bytes", memory_.begin_bytes);
    json_.member("end_bytes", memory_.end_bytes);
    json_.member("max_allocated_bytes", memory_.max_allocated_bytes);
    json_.member("max_reserved_bytes", memory_.max_reserved_bytes);
    json_.member("alloc_bytes", memory_.alloc_bytes);
    json_.member("free_bytes", memory_.free_bytes);
    json_.member("allocs", memory_.allocs);
    json_.member("frees", memory_.frees);
    const PairCounts& pairs = memory_.pairs;
    json_.key("frees_without_alloc");
    if (pairs.with_address > 0) {
      json_.value(pairs.frees_without_alloc);
    } else {
      json_.null();
    }
    json_.member("repeated_frees", pairs.repeated_frees);
    json_.member("allocs_over_live", pairs.allocs_over_live);
    json_.member("size_mismatches", pairs.size_mismatches);
    json_.member("zero_byte_events", memory_.zero_byte_events);
    json_.member("events_without_address", pairs.without_address);
    json_.member("events_without_total", memory_.events_without_total);
  }

  void write_groups(const std::vector<LiveBlock>& blocks, LiveBy by) {
    const std::vector<LiveGroup> groups = group_live(source_.trace, blocks, by);
    const std::size_t count = std::min(groups.size(), options_.top.value_or(groups.size()));
    json_.begin_array();
    for (std::size_t i = 0; i < count; ++i) write_group(groups[i], by);
    json_.end_array();
  }

  void write_group(const LiveGroup& group, LiveBy by) {
    json_.begin_object();
    if (by == LiveBy::op || by == LiveBy::op_and_stack) json_.member("op", std::string_view(group.op));
    if (by == LiveBy::stack || by == LiveBy::op_and_stack) {
      json_.key("stack").begin_array();
      for (const StringId frame : source_.trace.stack_of_memory(group.first_event)) {
        json_.value(source_.trace.strings.view(frame));
      }
      json_.end_array();
    }
    if (by == LiveBy::step) {
      json_.key("step");
      if (group.step == kNone) {
        json_.null();
      } else {
        json_.value(source_.trace.steps[group.step].number);
      }
    }
    json_.member("bytes", group.bytes);
    json_.member("count", group.count);
    json_.end_object();
  }

  // What the user asked for beyond the peak: `live`, absent when the trace has no such step.
  void write_live() {
    const std::optional<FoundMoment> moment = find_moment(source_, memory_, options_.at.value_or(Moment{}));
    if (!moment) return;
    const std::vector<LiveBlock> blocks = live_after(source_.trace, facts_.pairs, memory_, moment->count);
    const LiveBy by = options_.by.value_or(LiveBy::op_and_stack);
    json_.key("live").begin_object();
    json_.member("at", std::string_view(options_.at_text));
    json_.member("time_ns", moment->time_ns);
    json_.member("level_bytes", memory_.level_after(moment->count));
    json_.member("live_bytes", sum_of(blocks));
    json_.member("count", static_cast<std::int64_t>(blocks.size()));
    json_.member("before_recording_bytes", before_recording_bytes(memory_, moment->count, sum_of(blocks)));
    json_.member("by", name_of(by));
    json_.key("rows");
    write_groups(blocks, by);
    json_.end_object();
  }

  void write_steps() {
    json_.key("steps").begin_array();
    for (const StepMemory& step : memory_.steps) {
      json_.begin_object();
      json_.member("number", step.number);
      json_.member("begin_ns", step.begin_ns);
      json_.member("end_ns", step.end_ns);
      json_.member("begin_bytes", step.begin_bytes);
      json_.member("end_bytes", step.end_bytes);
      json_.member("kept_bytes", step.kept_bytes);
      json_.member("peak_bytes", step.peak_bytes);
      json_.member("alloc_bytes", step.alloc_bytes);
      json_.member("free_bytes", step.free_bytes);
      json_.member("allocs", step.allocs);
      json_.member("frees", step.frees);
      json_.end_object();
    }
    json_.end_array();
  }

  void write_points() {
    const MemoryEvents& all = source_.trace.memory;
    json_.key("points").begin_array();
    for (const std::size_t i : thin_curve(memory_, options_.points)) {
      const std::uint32_t event = memory_.events[i];
      json_.begin_array().value(all.time_ns[event]).value(memory_.allocated[i]);
      if (all.total_reserved[event] == kUnknown) {
        json_.null();
      } else {
        json_.value(all.total_reserved[event]);
      }
      json_.end_array();
    }
    json_.end_array();
  }

  JsonWriter& json_;
  const Source& source_;
  const SourceMemory& facts_;
  const DeviceMemory& memory_;
  const MemoryOptions& options_;
};

void write_trace(JsonWriter& json, const Source& source, const MemoryOptions& options) {
  const SourceMemory facts = measure_memory(source, options.device);
  json.key("devices").begin_array();
  for (const DeviceMemory& memory : facts.devices) DeviceJson(json, source, facts, memory, options).write();
  json.end_array();
}

void write_snapshot(JsonWriter& json, const Source& source, const Case& input, const MemoryOptions& options) {
  json.member("kind", "snapshot");
  json.key("settings").begin_object();
  for (const auto& [name, value] : source.memory_state->settings) json.member(name, std::string_view(value));
  json.end_object().key("devices").begin_array();
  for (const SnapshotDevice& facts : measure_snapshot(source, input, options.device)) {
    json.begin_object();
    write_snapshot_device(json, source, facts, options);
    json.end_object();
  }
  json.end_array();
}

void write_source(JsonWriter& json, const Source& source, const Case& input, const MemoryOptions& options) {
  json.begin_object();
  json.member("path", std::string_view(source.path));
  switch (kind_of(source)) {
    case SourceKind::snapshot:
      write_snapshot(json, source, input, options);
      break;
    case SourceKind::log:
      write_log(json, source, input, options);
      break;
    case SourceKind::timeline:
      write_timeline(json, source, options);
      break;
    case SourceKind::trace:
      write_trace(json, source, options);
      break;
  }
  json.key("trouble").begin_array();
  for (const Trouble& trouble : source.trouble) {
    json.begin_object();
    json.member("name", std::string_view(trouble.name));
    json.member("count", trouble.count);
    json.member("first_offset", trouble.first_offset);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

std::string memory_json(const Case& input, const MemoryOptions& options) {
  JsonWriter json;
  if (input.sources.size() == 1 && !options.is_list) {
    write_source(json, input.sources.front(), input, options);
    return json.text();
  }
  json.begin_object().key("sources").begin_array();
  for (const Source& source : input.sources) write_source(json, source, input, options);
  json.end_array();
  if (const SnapshotOrder order = order_snapshots(input); order.sources.size() > 1) {
    json.key("growth");
    write_growth(json, order, options);
  }
  json.end_object();
  return json.text();
}

}  // namespace vramscope
