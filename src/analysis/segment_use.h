#pragma once
// The segments and blocks of one device at the moment of a snapshot: what is used, what is free, and what a new request
// could still get. Sizes are bytes, rounded as the allocator keeps them unless "requested" is in the name.
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/memory_state.h"

namespace vramscope {

// Sums over segments or blocks: all, of the large pool, of the small pool.
struct ByPool {
  std::int64_t all = 0;
  std::int64_t large = 0;
  std::int64_t small = 0;
};

// Free blocks by size: how many requests of up to `request_bytes` could be met from them.
struct SizeClass {
  std::int64_t request_bytes = 0;  // upper end: 512, 1024, … doubling
  std::int64_t free_blocks = 0;    // whose size is in (request_bytes / 2, request_bytes]
  std::int64_t free_bytes = 0;
  // Requests of request_bytes that would find room, one after the other: of the stream and pool that
  // largest_request_bytes is about. A free block of the large pool serves no small request, nor the other way round.
  std::int64_t could_be_met = 0;
  std::int64_t active_blocks = 0;  // the same class of what is in use
  std::int64_t active_bytes = 0;
};

struct SegmentUse {
  // The rows of torch.cuda.memory_summary() that a snapshot can tell (current usage only).
  // Segments of an unknown pool count in `all` alone; blocks whose request is unknown have no part in requested_bytes.
  ByPool allocated_bytes, active_bytes, requested_bytes, reserved_bytes, inactive_split_bytes;
  ByPool allocations, active_blocks, segments, inactive_splits;
  ByPool fixed_segments;  // without the expandable ones, as PyTorch counts segments

  std::int64_t blocks = 0;
  std::int64_t free_bytes = 0;                   // reserved and not active
  std::int64_t largest_free_block_bytes = 0;     // of any pool and stream
  std::int64_t free_in_used_segments_bytes = 0;  // of it empty_cache() gives back `free_pages_bytes` alone
  std::int64_t free_pages_bytes = 0;             // whole free pages of used expandable segments
  std::int64_t free_segments_bytes = 0;          // wholly free segments: empty_cache() would give them back
  std::int64_t free_segments = 0;
  std::int64_t pending_free_bytes = 0;  // freed by the program, held by another stream
  // Blocks are larger than what was asked for; of active blocks whose request is known.
  std::optional<std::int64_t> rounding_bytes;
  // As PyTorch's viewer counts it (torch/utils/viz/MemoryViz.js, calculate_fragmentation): the sum of the squares of
  // the free pieces over the square of what is reserved. It is high where free memory lies in few large pieces. Empty
  // without free memory.
  std::optional<double> torch_fragmentation;
  // Ours: the largest single request that would succeed now without asking the driver for more, on the stream and in
  // the pool that main_stream() and main_pool() of analysis/allocator_sizes.h name. Others in `by_stream`.
  std::int64_t largest_request_bytes = 0;
  struct StreamUse {
    std::int64_t stream = 0;
    StringId pool = 0;
    std::int64_t reserved_bytes = 0, active_bytes = 0, free_bytes = 0, largest_free_block_bytes = 0;
  };
  std::vector<StreamUse> by_stream;     // most reserved first
  std::vector<SizeClass> size_classes;  // those with a block, ascending
};

SegmentUse measure_segments(const AllocatorDevice& device);

// Where the file's own sums differ from its blocks (damaged or hand-made files): number of such segments.
std::int64_t inconsistent_segments(const AllocatorDevice& device);

}  // namespace vramscope
