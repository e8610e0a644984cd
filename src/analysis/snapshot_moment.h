#pragma once
// A moment of an allocator's log, as people name it on the command line.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/allocator_replay.h"
#include "model/memory_state.h"

namespace vramscope {

enum class SnapshotMomentKind : std::uint8_t {
  snapshot,     // when the file was written: the active blocks of the segments
  peak,         // most bytes live in the log
  end,          // after the last entry of the log
  oom,          // when an allocation failed; value: which one, 1 = the first, 0 = the last
  entry,        // when `value` entries have happened
  since_start,  // value: nanoseconds since the first entry
  clock,        // value: nanoseconds on the log's clock
};

struct SnapshotMoment {
  SnapshotMomentKind kind = SnapshotMomentKind::snapshot;
  std::int64_t value = 0;
};

// "snapshot", "peak", "end", "oom", "oom:2", "entry:100", a time since the first entry with its unit ("1.25s",
// "800ms"), or whole nanoseconds on the log's own clock. nullopt for anything else.
std::optional<SnapshotMoment> parse_snapshot_moment(std::string_view text);

// How many entries of the log have happened then; nullopt when the device's log has no such moment. Of `snapshot` the
// whole log.
std::optional<std::size_t> find_snapshot_moment(const AllocatorDevice& device, const Replay& replay,
                                                const SnapshotMoment& moment);
// Whether the device's log has it.
bool has_snapshot_moment(const AllocatorDevice& device, const SnapshotMoment& moment);

}  // namespace vramscope
