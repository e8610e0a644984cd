#include "analysis/memory_thin.h"

#include <algorithm>

namespace vramscope {

std::vector<std::size_t> thin_curve(const DeviceMemory& memory, std::size_t most) {
  const std::size_t count = memory.events.size();
  std::vector<std::size_t> kept;
  if (count <= most) {
    for (std::size_t i = 0; i < count; ++i) kept.push_back(i);
    return kept;
  }
  kept = {memory.peak};
  if (most >= 2) kept.push_back(count - 1);
  if (most >= 3) kept.push_back(0);
  const std::size_t stretches = most > 3 ? (most - 3) / 2 : 0;
  for (std::size_t s = 0; s < stretches; ++s) {
    // Stretches of nearly the same length; count * s cannot overflow, as both are far below 2^32.
    const std::size_t begin = count * s / stretches;
    const std::size_t end = count * (s + 1) / stretches;
    std::size_t low = begin;
    std::size_t high = begin;
    for (std::size_t i = begin; i < end; ++i) {
      if (memory.allocated[i] < memory.allocated[low]) low = i;
      if (memory.allocated[i] > memory.allocated[high]) high = i;
    }
    kept.push_back(low);
    kept.push_back(high);
  }
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  return kept;
}

}  // namespace vramscope
