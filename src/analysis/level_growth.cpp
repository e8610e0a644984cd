#include "analysis/level_growth.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "analysis/growth.h"
#include "analysis/level_trend.h"
#include "analysis/memory_sums.h"
#include "analysis/ranges.h"

namespace vramscope {

namespace {

constexpr double kNearlyAll = 0.9;

std::int64_t median_distance(const SampleSeries& series, const std::function<std::int64_t(std::size_t)>& at) {
  std::vector<std::int64_t> distances;
  for (std::size_t i = 1; i < series.samples.size(); ++i) distances.push_back(subtract_bytes(at(i), at(i - 1)));
  return distances.empty() ? 0 : median(std::move(distances));
}

template <typename Known>
bool rises_throughout(const SampleSeries& series, Known known) {
  if (series.samples.size() < 2) return false;
  for (std::size_t i = 0; i < series.samples.size(); ++i) {
    if (!known(*series.samples[i])) return false;
    if (i > 0 && *known(*series.samples[i]) <= *known(*series.samples[i - 1])) return false;
  }
  return true;
}

void measure_distances(SampleSeries& series) {
  series.has_steps = rises_throughout(series, [](const AllocatorStats& sample) { return sample.step; });
  series.has_times = rises_throughout(series, [](const AllocatorStats& sample) { return sample.time_ns; });
  if (series.has_steps) {
    series.steps_between = median_distance(series, [&](std::size_t i) { return series.samples[i]->step.value_or(0); });
  }
  if (series.has_times) {
    series.time_between_ns =
        median_distance(series, [&](std::size_t i) { return series.samples[i]->time_ns.value_or(0); });
  }
}

}  // namespace

LevelGrowth judge_levels(const std::vector<std::int64_t>& level, std::int64_t resolution_bytes) {
  LevelGrowth growth;
  for (const std::int64_t bytes : level) growth.highest_bytes = std::max(growth.highest_bytes, bytes);
  if (level.size() < kFewestLevels) return growth;
  growth.first = warm_up_steps(level.size());
  const std::vector<std::int64_t> rises = differences(level, growth.first);
  growth.growth_bytes = subtract_bytes(level.back(), level[growth.first - 1]);
  const auto rising = std::count_if(rises.begin(), rises.end(), [](std::int64_t rise) { return rise > 0; });
  growth.growing_share = static_cast<double>(rising) / static_cast<double>(rises.size());
  growth.bytes_per_level = robust_slope(level, growth.first - 1);
  growth.regularity = regularity_of(rises);
  growth.is_steady = growth.growing_share >= kNearlyAll && growth.bytes_per_level > 0 &&
                     growth.growth_bytes >= 2 * std::min(resolution_bytes, kLargestSum / 2) && !slows_down(rises) &&
                     largest_fall(level, growth.first - 1) <= growth.growth_bytes / 4;
  return growth;
}

std::vector<SampleSeries> sample_series(const Source& source) {
  std::map<std::int32_t, SampleSeries> by_device;
  for (const AllocatorStats& sample : source.allocator_stats) {
    const auto allocated = sample.values.find("allocated_bytes.all.current");
    if (allocated == sample.values.end()) continue;
    SampleSeries& series = by_device[sample.device];
    series.device = sample.device;
    series.resolution_bytes = std::max(series.resolution_bytes, sample.resolution_bytes);
    const bool same_step = !series.samples.empty() && sample.step && series.samples.back()->step == sample.step;
    if (same_step) {
      series.samples.back() = &sample;
      series.allocated_bytes.back() = allocated->second;
    } else {
      series.samples.push_back(&sample);
      series.allocated_bytes.push_back(allocated->second);
    }
  }
  std::vector<SampleSeries> all;
  for (auto& [device, series] : by_device) {
    measure_distances(series);
    all.push_back(std::move(series));
  }
  return all;
}

}  // namespace vramscope
