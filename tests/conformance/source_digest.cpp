#include "source_digest.h"

#include <string_view>

namespace vramscope::test {

namespace {

// FNV-1a over 64-bit words and over text, each text with its length.
class Digest {
 public:
  Digest& add(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x100000001b3u;
    value_ ^= value_ >> 32;
    return *this;
  }
  Digest& add(std::int64_t number) { return add(static_cast<std::uint64_t>(number)); }
  Digest& add(std::string_view text) {
    add(static_cast<std::uint64_t>(text.size()));
    for (const char c : text) add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
    return *this;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

void add_track(Digest& digest, const Trace& trace, TrackId id) {
  if (id >= trace.tracks.size()) {
    digest.add(std::uint64_t{kNone});
    return;
  }
  const Track& track = trace.tracks[id];
  digest.add(trace.strings.view(track.pid)).add(trace.strings.view(track.tid));
}

void add_device_log(Digest& digest, const DeviceLog& log) {
  digest.add(std::uint64_t{log.moments}).add(static_cast<std::int64_t>(log.clock)).add(log.untimed_moments);
  for (const std::int64_t ns : log.time_ns) digest.add(ns);
  for (const LogDevice& device : log.devices) {
    digest.add(device.index.value_or(-1)).add(std::int64_t{device.parent.value_or(UINT32_MAX)});
    digest.add(device.gpu_instance.value_or(-1)).add(device.compute_instance.value_or(-1));
    for (const LogSeries& series : device.series) {
      digest.add(static_cast<std::uint64_t>(series.metric));
      for (std::size_t i = 0; i < series.moment.size(); ++i) {
        digest.add(std::uint64_t{series.moment[i]})
            .add(series.value[i])
            .add(static_cast<std::uint64_t>(series.state[i]));
      }
    }
  }
  for (const std::string& text : log.texts) digest.add(text);
  for (const LogProcess& process : log.processes) digest.add(process.pid).add(process.name);
  for (const LogUse& use : log.uses) {
    digest.add(std::uint64_t{use.process}).add(std::uint64_t{use.device}).add(use.used_bytes);
    for (const std::int16_t share : use.share_percent) digest.add(std::int64_t{share});
  }
  for (const auto& [name, count] : log.unknown_fields) digest.add(name).add(count);
}

// Columns of equal length, moments that rise, places that exist.
std::string broken_device_log(const DeviceLog& log) {
  if (!log.time_ns.empty() && log.time_ns.size() != log.moments) return "times of other moments";
  if (log.first_use.size() != std::size_t{log.moments} + 1) return "uses of other moments";
  if (log.tells_processes.size() != log.moments) return "process lists of other moments";
  if (log.first_use.back() != log.uses.size()) return "uses behind the last moment";
  for (std::size_t i = 1; i < log.time_ns.size(); ++i) {
    if (log.time_ns[i] < log.time_ns[i - 1]) return "times of moments fall";
  }
  for (std::size_t d = 0; d < log.devices.size(); ++d) {
    const LogDevice& device = log.devices[d];
    if (device.parent && (*device.parent >= d || log.devices[*device.parent].parent)) return "odd parent of a device";
    for (const LogSeries& series : device.series) {
      if (series.moment.empty() || series.moment.size() != series.value.size() ||
          series.moment.size() != series.state.size()) {
        return "odd columns of a series";
      }
      for (std::size_t i = 0; i < series.moment.size(); ++i) {
        if (series.moment[i] >= log.moments) return "no such moment";
        if (i > 0 && series.moment[i] <= series.moment[i - 1]) return "moments of a series do not rise";
        const bool is_text = info_of(series.metric).unit == MetricUnit::text && series.state[i] == ValueState::known;
        if (is_text && static_cast<std::size_t>(series.value[i]) >= log.texts.size()) return "no such text";
      }
    }
  }
  for (const LogUse& use : log.uses) {
    if (use.process >= log.processes.size() || use.device >= log.devices.size()) return "odd use of a device";
    if (log.devices[use.device].parent) return "use of a MIG device by itself";
  }
  return {};
}

void add_spans(Digest& digest, const Trace& trace) {
  const Spans& spans = trace.spans;
  digest.add(std::uint64_t{spans.size()});
  for (SpanIndex i = 0; i < spans.size(); ++i) {
    digest.add(spans.start_ns[i]).add(spans.duration_ns[i]).add(spans.id[i]).add(trace.name(i));
    digest.add(trace.strings.view(trace.categories[spans.category[i]].name));
    digest.add(std::uint64_t{spans.parent[i]}).add(std::uint64_t{spans.enclosing_frame[i]});
    add_track(digest, trace, spans.track[i]);
    if (const OpArgs* args = trace.op_args_of(i)) {
      digest.add(trace.strings.view(args->shapes)).add(args->sequence_number).add(std::int64_t{args->forward_thread});
    }
    if (const DeviceArgs* args = trace.device_args_of(i)) {
      digest.add(args->external_id).add(args->bytes).add(std::int64_t{args->device}).add(std::int64_t{args->stream});
    }
  }
}

void add_memory(Digest& digest, const Trace& trace) {
  const MemoryEvents& memory = trace.memory;
  digest.add(std::uint64_t{memory.size()});
  for (std::size_t i = 0; i < memory.size(); ++i) {
    digest.add(memory.time_ns[i]).add(memory.bytes[i]).add(memory.address[i]);
    digest.add(memory.total_allocated[i]).add(memory.total_reserved[i]);
    digest.add(trace.memory_devices[memory.device[i]].name()).add(std::uint64_t{memory.span[i]});
    add_track(digest, trace, memory.track[i]);
  }
}

void add_stack(Digest& digest, const Trace& trace, StackId id) {
  for (; id != 0 && id < trace.stacks.nodes.size(); id = trace.stacks.nodes[id].parent) {
    digest.add(trace.strings.view(trace.stacks.nodes[id].frame));
  }
}

void add_log(Digest& digest, const Trace& trace, const AllocatorLog& log) {
  digest.add(std::uint64_t{log.size()});
  for (std::size_t i = 0; i < log.size(); ++i) {
    digest.add(static_cast<std::int64_t>(log.action[i])).add(log.time_ns[i]).add(log.address[i]);
    digest.add(log.bytes[i]).add(log.stream[i]).add(std::uint64_t{log.note[i]});
    if (i % 16 == 0) add_stack(digest, trace, log.stack[i]);  // stacks of hundreds of frames: some will do
  }
}

void add_state(Digest& digest, const Trace& trace, const MemoryState& state) {
  for (const AllocatorDevice& device : state.devices) {
    digest.add(device.name());
    for (const Segment& segment : device.segments) {
      digest.add(segment.address).add(segment.total_bytes).add(segment.allocated_bytes).add(segment.active_bytes);
      digest.add(segment.requested_bytes).add(segment.stream).add(trace.strings.view(segment.pool));
      digest.add(std::uint64_t{segment.last_block}).add(std::int64_t{segment.is_expandable});
    }
    for (const Block& block : device.blocks) {
      digest.add(block.address).add(block.bytes).add(block.requested_bytes);
      digest.add(static_cast<std::int64_t>(block.state));
      add_stack(digest, trace, block.stack);
    }
    add_log(digest, trace, device.log);
  }
  for (const AllocatorNote& note : state.notes) {
    digest.add(trace.strings.view(note.action)).add(trace.strings.view(note.user_metadata));
    digest.add(trace.strings.view(note.category)).add(trace.strings.view(note.pool)).add(note.device_free_bytes);
  }
  for (const AllocatorAnnotation& mark : state.annotations) {
    digest.add(mark.time_ns).add(trace.strings.view(mark.name)).add(std::int64_t{mark.is_begin});
  }
  for (const auto& [name, value] : state.settings) digest.add(name).add(value);
}

}  // namespace

std::uint64_t digest(const Source& source) {
  Digest digest;
  digest.add(source.format).add(source.version).add(source.bytes).add(source.events).add(source.metadata_events);
  for (const CategoryCount& category : source.events_by_category) digest.add(category.name).add(category.events);
  digest.add(source.start_ns.value_or(kUnknown)).add(source.end_ns.value_or(kUnknown));
  for (const DeviceInfo& device : source.environment.devices) digest.add(std::int64_t{device.id}).add(device.name);
  for (const Trouble& trouble : source.trouble) digest.add(trouble.name).add(trouble.count).add(trouble.first_offset);
  add_spans(digest, source.trace);
  add_memory(digest, source.trace);
  digest.add(std::uint64_t{source.trace.forward_backward.size()}).add(std::uint64_t{source.trace.steps.size()});
  digest.add(std::uint64_t{source.trace.instants.size()}).add(std::uint64_t{source.trace.counters.size()});
  if (source.memory_state) add_state(digest, source.trace, *source.memory_state);
  if (source.device_log) add_device_log(digest, *source.device_log);
  return digest.value();
}

namespace {

std::string broken_span(const Trace& trace, SpanIndex i) {
  const Spans& spans = trace.spans;
  const std::string where = " at span " + std::to_string(i);
  if (spans.duration_ns[i] < 0) return "negative duration" + where;
  std::int64_t end_ns = 0;
  if (__builtin_add_overflow(spans.start_ns[i], spans.duration_ns[i], &end_ns)) return "end overflows" + where;
  if (spans.track[i] >= trace.tracks.size()) return "no such track" + where;
  if (spans.name[i] >= trace.strings.size()) return "no such name" + where;
  if (spans.category[i] >= trace.categories.size()) return "no such category" + where;
  for (const SpanIndex outer : {spans.parent[i], spans.enclosing_frame[i]}) {
    if (outer == kNone) continue;
    if (outer >= spans.size() || outer == i) return "no such outer span" + where;
    if (spans.track[outer] != spans.track[i]) return "outer span on another track" + where;
    if (spans.start_ns[outer] > spans.start_ns[i]) return "outer span begins later" + where;
  }
  return {};
}

std::string broken_track(const Trace& trace, const Track& track) {
  if (track.begin > track.end || track.end > trace.spans_by_time.size()) return "track outside spans_by_time";
  for (std::uint32_t at = track.begin; at + 1 < track.end; ++at) {
    const SpanIndex a = trace.spans_by_time[at];
    const SpanIndex b = trace.spans_by_time[at + 1];
    if (a >= trace.spans.size() || b >= trace.spans.size()) return "no such span in spans_by_time";
    if (trace.spans.start_ns[a] > trace.spans.start_ns[b]) return "spans_by_time is not sorted";
  }
  return {};
}

std::string broken_device(const Source& source, const AllocatorDevice& device) {
  const Trace& trace = source.trace;
  const AllocatorLog& log = device.log;
  for (const std::size_t size : {log.time_ns.size(), log.address.size(), log.bytes.size(), log.stream.size(),
                                 log.stack.size(), log.note.size()}) {
    if (size != log.size()) return "columns of different lengths";
  }
  for (std::size_t i = 0; i < log.size(); ++i) {
    if (log.stack[i] >= trace.stacks.nodes.size()) return "no such stack of a log entry";
    if (log.note[i] != kNone && log.note[i] >= source.memory_state->notes.size()) return "no such note";
    if (log.bytes[i] < 0 && log.bytes[i] != kUnknown) return "negative bytes of a log entry";
  }
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < device.segments.size(); ++i) {
    const Segment& segment = device.segments[i];
    if (segment.first_block != next || segment.last_block < next) return "blocks are not in the order of segments";
    next = segment.last_block;
    if (i > 0 && segment.address < device.segments[i - 1].address) return "segments are not sorted";
    if (segment.total_bytes < 0 || segment.stack >= trace.stacks.nodes.size()) return "odd segment";
    for (std::uint32_t b = segment.first_block + 1; b < segment.last_block; ++b) {
      if (device.blocks[b].address < device.blocks[b - 1].address) return "blocks are not sorted";
    }
  }
  if (next != device.blocks.size()) return "blocks of no segment";
  for (const Block& block : device.blocks) {
    if (block.bytes < 0 || block.stack >= trace.stacks.nodes.size()) return "odd block";
  }
  return {};
}

}  // namespace

std::string broken_promise(const Source& source) {
  const Trace& trace = source.trace;
  std::int64_t in_categories = 0;
  for (const CategoryCount& category : source.events_by_category) in_categories += category.events;
  if (in_categories != source.events) return "events_by_category does not add up to events";
  if (source.start_ns.has_value() != source.end_ns.has_value()) return "start without end";
  if (source.start_ns && *source.start_ns > *source.end_ns) return "end before start";
  if (trace.spans_by_time.size() != trace.spans.size()) return "spans_by_time has another size than spans";
  for (SpanIndex i = 0; i < trace.spans.size(); ++i) {
    if (std::string broken = broken_span(trace, i); !broken.empty()) return broken;
  }
  for (const Track& track : trace.tracks) {
    if (std::string broken = broken_track(trace, track); !broken.empty()) return broken;
  }
  for (std::size_t i = 0; i < trace.memory.size(); ++i) {
    if (i > 0 && trace.memory.time_ns[i - 1] > trace.memory.time_ns[i]) return "memory events are not sorted";
    if (trace.memory.device[i] >= trace.memory_devices.size()) return "no such memory device";
    const SpanIndex span = trace.memory.span[i];
    if (span != kNone && span >= trace.spans.size()) return "no such span of a memory event";
  }
  for (StackId id = 1; id < trace.stacks.nodes.size(); ++id) {
    if (trace.stacks.nodes[id].parent >= id) return "a stack whose caller comes later";
  }
  if (source.memory_state) {
    for (const AllocatorDevice& device : source.memory_state->devices) {
      if (std::string broken = broken_device(source, device); !broken.empty()) return device.name() + ": " + broken;
    }
  }
  if (source.device_log) {
    if (std::string broken = broken_device_log(*source.device_log); !broken.empty()) return broken;
  }
  for (const Trouble& trouble : source.trouble) {
    if (trouble.name.empty() || trouble.count <= 0 || trouble.first_offset < 0) return "trouble without name or count";
  }
  return {};
}

}  // namespace vramscope::test
