#include "analysis/link_use.h"

#include <algorithm>

#include "analysis/device_limits.h"
#include "analysis/log_reading.h"

namespace vramscope {

namespace {

void take(std::optional<std::int64_t>& most, std::optional<std::int64_t> value) {
  if (value && *value > 0) most = std::max(most.value_or(*value), *value);
}

std::optional<std::int64_t> most_generation(const LogDevice& device) {
  auto most = last_known(device, Metric::pcie_link_gen_max);
  // The device alone may do more than the slot: the lower one counts.
  for (const Metric part : {Metric::pcie_link_gen_gpumax, Metric::pcie_link_gen_hostmax}) {
    const auto value = last_known(device, part);
    if (value && *value > 0 && (!most || *value < *most)) most = value;
  }
  // Of one part alone nothing follows.
  const bool has_both = last_known(device, Metric::pcie_link_gen_gpumax).has_value() &&
                        last_known(device, Metric::pcie_link_gen_hostmax).has_value();
  return last_known(device, Metric::pcie_link_gen_max) || has_both ? most : std::nullopt;
}

}  // namespace

std::vector<LinkUse> link_use(const DeviceLog& log) {
  std::vector<LinkUse> all;
  for (const LogDevice& device : log.devices) {
    LinkUse& use = all.emplace_back();
    if (device.parent) continue;
    MetricReading busy(device, Metric::utilization_gpu);
    MetricReading generation(device, Metric::pcie_link_gen_current);
    MetricReading width(device, Metric::pcie_link_width_current);
    for (std::uint32_t moment = 0; moment < log.moments; ++moment) {
      const auto percent = busy.at(moment);
      if (!percent || *percent < kBusyPercent) continue;
      const auto now_generation = generation.at(moment);
      const auto now_width = width.at(moment);
      if (!now_generation && !now_width) continue;
      if (use.busy_moments++ == 0) use.first_busy = moment;
      use.last_busy = moment;
      take(use.generation, now_generation);
      take(use.width, now_width);
    }
    use.most_generation = most_generation(device);
    use.most_width = last_known(device, Metric::pcie_link_width_max);
  }
  return all;
}

}  // namespace vramscope
