#pragma once
// Sizes of which ever more blocks live while the log goes on: a cache that fills, as that for keys and values of a
// language model, or inputs that get longer.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/allocator_replay.h"
#include "model/memory_state.h"

namespace vramscope {

inline constexpr std::size_t kGrowthPoints = 9;  // moments of the log, equally far apart, its start and end included

struct SizeClassGrowth {
  std::int64_t request_bytes = 0;  // upper end of the class: requests of (request_bytes / 2, request_bytes]
  std::array<std::int64_t, kGrowthPoints> bytes{};   // that live, as asked for
  std::array<std::int64_t, kGrowthPoints> counts{};  // allocations that live
  StackId stack = 0;                                 // where most of those that live at the end were allocated
  std::int64_t growth_bytes() const;
};

// Classes whose bytes and count both rise from each moment to the next; most growth first. None of a log of less than
// 64 entries.
std::vector<SizeClassGrowth> growing_size_classes(const AllocatorDevice& device, const Replay& replay);

}  // namespace vramscope
