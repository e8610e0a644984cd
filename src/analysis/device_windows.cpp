#include "analysis/device_windows.h"

#include <algorithm>

#include "analysis/device_limits.h"
#include "analysis/log_reading.h"
#include "base/saturate.h"

namespace vramscope {

namespace {

// The windows themselves: [begin, end) of moments; parts that belong to none are left out.
struct Cut {
  std::uint32_t begin = 0, end = 0;
  std::int64_t weight = 0;
};

std::vector<Cut> cuts_of(const LogWeights& weights) {
  std::vector<Cut> cuts;
  Cut open;
  for (std::uint32_t moment = 0; moment < weights.weight.size(); ++moment) {
    open.weight = saturating_add(open.weight, weights.weight[moment]);
    open.end = moment + 1;
    const std::int64_t moments = open.end - open.begin;
    const bool is_whole =
        weights.has_time ? open.weight >= kWindowNs && moments >= kWindowMoments : moments >= kWindowMomentsOnly;
    if (is_whole) cuts.push_back(open);
    if (is_whole || weights.is_gap[moment]) open = {moment + 1, moment + 1, 0};
  }
  return cuts;
}

struct Readings {
  MetricReading busy, used;
  bool was_high = false;
};

DeviceWindow window_of(const Cut& cut, const LogWeights& weights, Readings& readings) {
  DeviceWindow window;
  double sum = 0;
  readings.was_high = false;
  for (std::uint32_t moment = cut.begin; moment < cut.end; ++moment) {
    const auto busy = readings.busy.at(moment);
    const auto used = readings.used.at(moment);
    if (!busy) continue;
    const std::int64_t weight = weights.weight[moment];
    const std::int64_t percent = std::clamp<std::int64_t>(*busy, 0, 100);
    window.weight = saturating_add(window.weight, weight);
    sum += static_cast<double>(percent) * static_cast<double>(weight);
    window.most_busy = std::max(window.most_busy, percent);
    if (percent <= kIdlePercent) {
      window.low = saturating_add(window.low, weight);
      if (readings.was_high) ++window.falls;
      readings.was_high = false;
    } else if (percent >= kBusyPercent) {
      window.high = saturating_add(window.high, weight);
      readings.was_high = true;
    }
    if (!used) continue;
    window.least_used = std::min(window.least_used.value_or(*used), *used);
    window.most_used = std::max(window.most_used.value_or(*used), *used);
  }
  if (window.weight > 0) window.mean_busy = sum / static_cast<double>(window.weight);
  return window;
}

}  // namespace

DeviceWindows device_windows(const DeviceLog& log, const LogWeights& weights) {
  DeviceWindows windows;
  const std::vector<Cut> cuts = cuts_of(weights);
  for (const Cut& cut : cuts) {
    windows.first.push_back(cut.begin);
    windows.weight.push_back(cut.weight);
  }
  windows.first.push_back(cuts.empty() ? 0 : cuts.back().end);
  for (const LogDevice& device : log.devices) {
    Readings readings{MetricReading(device, Metric::utilization_gpu), MetricReading(device, Metric::memory_used)};
    std::vector<DeviceWindow>& all = windows.devices.emplace_back();
    for (const Cut& cut : cuts) all.push_back(window_of(cut, weights, readings));
  }
  return windows;
}

}  // namespace vramscope
