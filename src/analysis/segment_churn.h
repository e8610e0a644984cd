#pragma once
// Rounds in which an allocator gave memory back to the driver and took it again: each costs a wait for the device.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/memory_state.h"
#include "model/source.h"

namespace vramscope {

enum class ReleaseCause : std::uint8_t {
  empty_cache,  // a frame says so
  retry,        // an allocation follows at once: the driver had no room, so the cache was given back first
  unknown,
};

// Segments given back one after the other.
struct ReleaseRound {
  std::size_t first = 0;  // log entries [first, last]
  std::size_t last = 0;
  std::int64_t segments = 0;
  std::int64_t freed_bytes = 0;
  std::int64_t taken_bytes = 0;  // taken from the driver until the next round, or the end
  StackId stack = 0;             // of the first
  ReleaseCause cause = ReleaseCause::unknown;
};

struct SegmentRounds {
  std::vector<ReleaseRound> rounds;  // in order of the log
  // Of them those after which at least half of what was given back was taken again.
  std::int64_t repeated = 0;
  std::int64_t repeated_bytes = 0;  // given back in these and taken again
  // From the first to the last entry of these rounds: a lower bound of what they cost. kUnknown without times, and
  // where no round has two entries.
  std::int64_t time_ns = kUnknown;
  std::int64_t log_ns = kUnknown;  // of the whole log
};

SegmentRounds segment_rounds(const Source& source, const AllocatorDevice& device);

}  // namespace vramscope
