#include "report/snapshot_json.h"

#include <algorithm>

#include "report/allocator_summary.h"
#include "report/oom_text.h"
#include "report/thin_levels.h"

namespace vramscope {

namespace {

const char* mismatch_name(EndMismatch mismatch) {
  switch (mismatch) {
    case EndMismatch::none:
      return "none";
    case EndMismatch::no_log:
      return "no_log";
    case EndMismatch::freed_after_log:
      return "freed_after_log";
    case EndMismatch::log_incomplete:
      return "log_incomplete";
  }
  return "none";
}

void write_time_or_null(JsonWriter& json, std::int64_t time_ns) {
  if (time_ns == kUnknown) {
    json.null();
  } else {
    json.value(time_ns);
  }
}

// Writes the parts of one device's object.
class SnapshotJson {
 public:
  SnapshotJson(JsonWriter& json, const Source& source, const SnapshotDevice& facts, const MemoryOptions& options)
      : json_(json), source_(source), facts_(facts), options_(options) {}

  void write() {
    json_.member("device", std::string_view(facts_.device->name()));
    write_sums();
    write_log_sums();
    write_moment();
    write_ooms();
    write_sizes();
    write_churn();
    json_.key("summary").begin_object();
    for (const auto& [name, value] : summary_values(summarise(facts_, *source_.memory_state))) {
      json_.member(name, value);
    }
    json_.end_object();
    write_points();
  }

 private:
  void write_sums() {
    const SegmentUse& use = facts_.use;
    json_.member("reserved_bytes", use.reserved_bytes.all).member("allocated_bytes", use.allocated_bytes.all);
    json_.member("active_bytes", use.active_bytes.all).member("requested_bytes", use.requested_bytes.all);
    json_.member("free_bytes", use.free_bytes).member("largest_free_block_bytes", use.largest_free_block_bytes);
    json_.member("largest_request_bytes", use.largest_request_bytes);
    json_.member("segments", use.segments.all).member("blocks", use.blocks);
    json_.member("free_in_used_segments_bytes", use.free_in_used_segments_bytes);
    json_.member("free_segments_bytes", use.free_segments_bytes).member("free_segments", use.free_segments);
    json_.member("pending_free_bytes", use.pending_free_bytes).member("rounding_bytes", use.rounding_bytes);
    json_.member("inconsistent_segments", inconsistent_segments(*facts_.device));
    json_.key("fragmentation");
    if (use.torch_fragmentation) {
      json_.value(*use.torch_fragmentation);
    } else {
      json_.null();
    }
  }

  void write_log_sums() {
    const Replay& replay = facts_.replay;
    json_.member("entries", static_cast<std::int64_t>(facts_.device->log.size()));
    json_.member("allocs", replay.allocs).member("frees", replay.frees);
    json_.member("frees_without_alloc", replay.frees_without_alloc);
    json_.member("allocs_over_live", replay.allocs_over_live);
    json_.member("baseline_bytes", replay.baseline_bytes).member("baseline_count", replay.baseline_count);
    json_.member("baseline_rounded_bytes", replay.baseline_rounded_bytes);
    json_.member("peak_live_bytes", replay.peak_bytes);
    json_.member("peak_entry", static_cast<std::int64_t>(replay.peak_count));
    json_.member("end_live_bytes", replay.end_blocks_bytes);
    if (replay.end_bytes != replay.end_blocks_bytes) json_.member("replayed_end_bytes", replay.end_bytes);
    json_.member("mismatch", mismatch_name(replay.mismatch));
    json_.key("first_time_ns");
    write_time_or_null(json_, replay.first_time_ns);
    json_.key("last_time_ns");
    write_time_or_null(json_, replay.last_time_ns);
  }

  void write_groups(const Holders& holders, HeldBy by) {
    const std::size_t count = std::min(holders.groups.size(), options_.top.value_or(holders.groups.size()));
    json_.begin_array();
    for (std::size_t i = 0; i < count; ++i) {
      const HeldGroup& group = holders.groups[i];
      json_.begin_object().member("bytes", group.bytes).member("count", group.count);
      if (by == HeldBy::frame) {
        json_.member("frame", source_.trace.strings.view(group.frame));
      } else if (by != HeldBy::stack) {
        json_.member(held_by_name(by), std::string_view(group.key));
      }
      if (by == HeldBy::stack) {
        json_.key("stack");
        write_stack(json_, source_, group.stack);
        json_.member("user_frame", source_.trace.strings.view(user_frame(source_, group.stack)));
      }
      json_.end_object();
    }
    json_.end_array();
  }

  void write_holders(const char* name, const SnapshotMoment& moment, HeldBy by) {
    const std::optional<Holders> holders = holders_at(source_, facts_, moment, by);
    if (!holders) return;
    json_.key(name);
    write_groups(*holders, by);
  }

  void write_moment() {
    const SnapshotMoment moment = options_.snapshot.at.value_or(SnapshotMoment{});
    if (const std::optional<Holders> holders = holders_at(source_, facts_, moment, HeldBy::stack)) {
      json_.key("moment").begin_object();
      json_.member("at", options_.snapshot.at ? std::string_view(options_.at_text) : std::string_view("snapshot"));
      json_.member("entry", static_cast<std::int64_t>(holders->count));
      json_.member("live_bytes", holders->bytes).member("rounded_bytes", holders->rounded_bytes);
      json_.member("count", holders->allocations).end_object();
      json_.key("live_by_stack");
      write_groups(*holders, HeldBy::stack);
    } else {
      json_.key("moment").null();
      json_.key("live_by_stack").begin_array().end_array();
    }
    write_holders("live_at_peak", {SnapshotMomentKind::peak, 0}, HeldBy::stack);
    write_holders("by_stream", moment, HeldBy::stream);
    if (options_.snapshot.by && *options_.snapshot.by != HeldBy::stack && *options_.snapshot.by != HeldBy::stream) {
      const std::string name = std::string("by_") + held_by_name(*options_.snapshot.by);
      write_holders(name.c_str(), moment, *options_.snapshot.by);
    }
  }

  void write_ooms() {
    const AllocatorLog& log = facts_.device->log;
    json_.key("oom").begin_array();
    for (const OomEntry& oom : facts_.ooms) {
      json_.begin_object().member("entry", static_cast<std::int64_t>(oom.entry) + 1);
      if (oom.entry < log.size() && log.time_ns[oom.entry] != kUnknown) {
        json_.member("time_ns", log.time_ns[oom.entry]);
      }
      write_oom(json_, oom.event, oom.verdict);
      if (oom.entry < log.size()) {
        json_.key("stack");
        write_stack(json_, source_, log.stack[oom.entry]);
      }
      json_.end_object();
    }
    json_.end_array();
  }

  void write_sizes() {
    json_.key("size_classes").begin_array();
    for (const SizeClass& each : facts_.use.size_classes) {
      json_.begin_object().member("request_bytes", each.request_bytes).member("free_blocks", each.free_blocks);
      json_.member("free_bytes", each.free_bytes).member("could_be_met", each.could_be_met);
      json_.member("active_blocks", each.active_blocks).member("active_bytes", each.active_bytes).end_object();
    }
    json_.end_array();
    json_.key("streams").begin_array();
    for (const SegmentUse::StreamUse& each : facts_.use.by_stream) {
      json_.begin_object().member("stream", each.stream).member("pool", source_.trace.strings.view(each.pool));
      json_.member("reserved_bytes", each.reserved_bytes).member("active_bytes", each.active_bytes);
      json_.member("free_bytes", each.free_bytes);
      json_.member("largest_free_block_bytes", each.largest_free_block_bytes).end_object();
    }
    json_.end_array();
  }

  void write_churn() {
    const Churn& churn = facts_.churn;
    json_.key("churn").begin_object().member("window_entries", churn.window_entries);
    json_.member("short_lived", churn.short_lived).member("short_lived_bytes", churn.short_lived_bytes);
    json_.member("segment_allocs", churn.segment_allocs).member("segment_alloc_bytes", churn.segment_alloc_bytes);
    json_.member("segment_frees", churn.segment_frees).member("segment_free_bytes", churn.segment_free_bytes);
    json_.member("segments_taken_again", churn.segments_taken_again);
    json_.member("segments_taken_again_bytes", churn.segments_taken_again_bytes).end_object();
  }

  void write_points() {
    const Replay& replay = facts_.replay;
    const AllocatorLog& log = facts_.device->log;
    const bool has_times = replay.first_time_ns != kUnknown && replay.last_time_ns != kUnknown;
    json_.member("points_axis", has_times ? "time_ns" : "entry");
    json_.key("points").begin_array();
    if (log.size() > 0) {
      std::int64_t time_ns = replay.first_time_ns;
      std::size_t done = 0;
      const auto level = [&](std::size_t count) { return replay.live_after(count); };
      // Position 0 is before the log, i after its i-th entry.
      for (const std::size_t count : thin_levels(log.size() + 1, replay.peak_count, options_.points, level)) {
        for (; done < count; ++done) {
          if (log.time_ns[done] != kUnknown) time_ns = std::max(time_ns, log.time_ns[done]);
        }
        json_.begin_array().value(has_times ? time_ns : static_cast<std::int64_t>(count));
        json_.value(replay.live_after(count)).value(replay.reserved_after(count)).end_array();
      }
    }
    json_.end_array();
  }

  JsonWriter& json_;
  const Source& source_;
  const SnapshotDevice& facts_;
  const MemoryOptions& options_;
};

}  // namespace

void write_stack(JsonWriter& json, const Source& source, StackId stack) {
  json.begin_array();
  for (const StringId frame : readable_frames(source, stack)) json.value(source.trace.strings.view(frame));
  json.end_array();
}

void write_snapshot_device(JsonWriter& json, const Source& source, const SnapshotDevice& facts,
                           const MemoryOptions& options) {
  SnapshotJson(json, source, facts, options).write();
}

}  // namespace vramscope
