#pragma once
// How PyTorch's caching allocator rounds and pools. Source: c10/cuda/CUDACachingAllocator.cpp of PyTorch 1.0 to 2.9
// (kMinBlockSize, kSmallSize, kSmallBuffer, kLargeBuffer; the pages of expandable segments).
#include <cstdint>

#include "analysis/allocator_replay.h"
#include "model/memory_state.h"

namespace vramscope {

inline constexpr std::int64_t kRoundingBytes = 512;
inline constexpr std::int64_t kLargestSmallRequest = 1 << 20;  // larger ones go to the large pool
inline constexpr std::int64_t kSmallSegmentBytes = 2 << 20;    // also the page of the small pool's expandable segments
inline constexpr std::int64_t kLargePageBytes = 20 << 20;      // of the large pool's expandable segments

// Of a segment from cudaMalloc: the small pool takes 2 MiB at a time, the large pool more.
constexpr bool is_large_segment(std::int64_t bytes) {
  return bytes > kSmallSegmentBytes;
}

// What a request takes: whole 512 bytes, at least one of them. roundup_power2_divisions can make it more.
constexpr std::int64_t rounded_request(std::int64_t bytes) {
  if (bytes <= kRoundingBytes) return kRoundingBytes;
  const std::int64_t rest = bytes % kRoundingBytes;
  if (rest == 0 || bytes > INT64_MAX - kRoundingBytes) return bytes;
  return bytes + kRoundingBytes - rest;
}

// What the allocator asks the driver for to meet a request that finds no free block: 2 MiB for small ones, 20 MiB for
// those below 10 MiB (kMinLargeAlloc), else whole 2 MiB (kRoundLarge); expandable segments grow by whole pages.
constexpr std::int64_t segment_request(std::int64_t bytes, bool is_expandable) {
  constexpr std::int64_t kLeastLarge = 10 << 20;
  if (bytes <= kLargestSmallRequest) return kSmallSegmentBytes;
  if (bytes < kLeastLarge) return kLargePageBytes;
  const std::int64_t unit = is_expandable ? kLargePageBytes : kSmallSegmentBytes;
  const std::int64_t rest = bytes % unit;
  return rest == 0 || bytes > INT64_MAX - unit ? bytes : bytes + unit - rest;
}

// What an allocation takes: its block's size where it lives at the end, else its request rounded.
std::int64_t rounded_bytes(const AllocatorDevice& device, const Allocation& allocation);

// The pool that ordinary requests use, as against those of CUDA graphs and MemPool: the one that holds most.
StringId main_pool(const AllocatorDevice& device);
// The stream that most programs use: 0 where it has memory, else the one that holds most.
std::int64_t main_stream(const AllocatorDevice& device);

}  // namespace vramscope
