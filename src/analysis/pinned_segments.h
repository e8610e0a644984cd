#pragma once
// Which live blocks keep free memory from being given back: a segment goes back to the driver only when all of it is
// free, so each live block in a partly used segment pins the free rest of it.
#include <cstdint>
#include <vector>

#include "model/memory_state.h"

namespace vramscope {

// Live blocks of one size, allocated at one stack.
struct PinningBlocks {
  StackId stack = 0;
  std::int64_t block_bytes = 0;  // of one, rounded
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;  // of all
  // Free bytes of the segments that they are in. The free bytes of a segment are shared out evenly among its blocks.
  std::int64_t pinned_bytes = 0;
};

struct PinnedMemory {
  std::int64_t free_bytes = 0;        // in partly used segments
  std::int64_t segments = 0;          // partly used ones with a free block
  std::int64_t live_bytes = 0;        // in these segments
  std::vector<PinningBlocks> groups;  // most pinned bytes first
};

// Linear in the number of blocks.
PinnedMemory pinned_memory(const AllocatorDevice& device);

}  // namespace vramscope
