#include "analysis/level_trend.h"

#include <algorithm>
#include <utility>

#include "analysis/memory_sums.h"
#include "analysis/ranges.h"

namespace vramscope {

std::int64_t robust_slope(const std::vector<std::int64_t>& level, std::size_t first) {
  constexpr std::size_t kPairsAtMost = 1000000;
  const std::size_t count = level.size() - first;
  const std::size_t stride = 1 + count * count / 2 / kPairsAtMost;
  std::vector<std::int64_t> slopes;
  for (std::size_t i = first; i < level.size(); ++i) {
    for (std::size_t j = i + 1; j < level.size(); j += stride) {
      slopes.push_back(subtract_bytes(level[j], level[i]) / static_cast<std::int64_t>(j - i));
    }
  }
  return median(std::move(slopes));
}

std::vector<std::int64_t> differences(const std::vector<std::int64_t>& level, std::size_t first) {
  std::vector<std::int64_t> rises;
  for (std::size_t i = first; i < level.size(); ++i) rises.push_back(subtract_bytes(level[i], level[i - 1]));
  return rises;
}

double regularity_of(const std::vector<std::int64_t>& values) {
  const std::int64_t middle = median(values);
  if (middle <= 0) return 0;
  std::vector<std::int64_t> distances;
  for (const std::int64_t value : values) distances.push_back(size_of_bytes(subtract_bytes(value, middle)));
  return 1.0 - std::min(1.0, static_cast<double>(median(std::move(distances))) / static_cast<double>(middle));
}

bool slows_down(const std::vector<std::int64_t>& rises) {
  const std::size_t half = rises.size() / 2;
  std::int64_t early = 0;
  std::int64_t late = 0;
  for (std::size_t i = 0; i < half; ++i) early = add_bytes(early, rises[i]);
  for (std::size_t i = rises.size() - half; i < rises.size(); ++i) late = add_bytes(late, rises[i]);
  return static_cast<double>(late) < 0.4 * static_cast<double>(early);
}

std::int64_t largest_fall(const std::vector<std::int64_t>& level, std::size_t first) {
  std::int64_t highest = level[first];
  std::int64_t fall = 0;
  for (std::size_t i = first; i < level.size(); ++i) {
    highest = std::max(highest, level[i]);
    fall = std::max(fall, subtract_bytes(highest, level[i]));
  }
  return fall;
}

}  // namespace vramscope
