#pragma once
// What the requests of an allocator's log are like: how large, how varied.
#include <cstddef>
#include <cstdint>
#include <optional>

#include "analysis/allocator_replay.h"

namespace vramscope {

struct LargeRequest {
  std::int64_t bytes = 0;
  StackId stack = 0;
  std::uint32_t entry = 0;  // of the log
};

// The largest allocation made from log entry `first` on that was freed again: it comes again in the next step. Empty
// without one.
std::optional<LargeRequest> largest_passing_request(const Replay& replay, std::size_t first);

// Whether at least half of the large requests (over 1 MiB) of the log have a size that no other has: variable lengths.
// False for less than 16 of them.
bool has_varied_sizes(const Replay& replay);

}  // namespace vramscope
