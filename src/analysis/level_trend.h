#pragma once
// How a series of levels moves: of steps (analysis/growth.h), of samples (analysis/level_growth.h).
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramscope {

// Median of the slopes between all pairs from `first` on (Theil and Sen): one odd level does not move it. Of many
// levels not all pairs are taken. At least two levels.
std::int64_t robust_slope(const std::vector<std::int64_t>& level, std::size_t first);
// From each level to the next; the first is level[first] - level[first - 1].
std::vector<std::int64_t> differences(const std::vector<std::int64_t>& level, std::size_t first);
// 1 when all are alike, falling with their median distance from the median.
double regularity_of(const std::vector<std::int64_t>& values);
// A warm-up rises less and less; so does a cache that fills.
bool slows_down(const std::vector<std::int64_t>& rises);
// The deepest fall below the highest level before it.
std::int64_t largest_fall(const std::vector<std::int64_t>& level, std::size_t first);

}  // namespace vramscope
