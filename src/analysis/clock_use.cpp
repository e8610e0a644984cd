#include "analysis/clock_use.h"

#include <algorithm>

#include "analysis/clock_reason_bits.h"
#include "analysis/device_limits.h"
#include "analysis/log_reading.h"
#include "base/saturate.h"

namespace vramscope {

namespace {

// A log tells the reasons as one mask, or each by itself.
class ReasonReading {
 public:
  explicit ReasonReading(const LogDevice& device) : mask_(device, Metric::clocks_event_reasons_active) {
    using namespace clock_reason;
    const auto add = [&](Metric metric, std::int64_t bit) {
      if (series_of(device, metric) != nullptr) flags_.emplace_back(MetricReading(device, metric), bit);
    };
    add(Metric::clocks_event_reasons_gpu_idle, kIdle);
    add(Metric::clocks_event_reasons_applications_clocks_setting, kApplicationClocks);
    add(Metric::clocks_event_reasons_sw_power_cap, kSwPowerCap);
    add(Metric::clocks_event_reasons_hw_slowdown, kHwSlowdown);
    add(Metric::clocks_event_reasons_sw_thermal_slowdown, kSwThermal);
    add(Metric::clocks_event_reasons_hw_thermal_slowdown, kHwThermal);
    add(Metric::clocks_event_reasons_hw_power_brake_slowdown, kPowerBrake);
  }
  std::optional<std::int64_t> at(std::uint32_t moment) {
    std::optional<std::int64_t> bits = mask_.at(moment);
    for (auto& [flag, bit] : flags_) {
      const auto is_set = flag.at(moment);
      if (is_set) bits = bits.value_or(0) | (*is_set > 0 ? bit : 0);
    }
    return bits;
  }

 private:
  MetricReading mask_;
  std::vector<std::pair<MetricReading, std::int64_t>> flags_;
};

void take_reasons(ClockUse& use, std::int64_t bits, std::uint32_t moment, std::int64_t weight) {
  use.told = saturating_add(use.told, weight);
  ++use.told_moments;
  for (std::size_t bit = 0; bit < ClockUse::kBits; ++bit) {
    if ((bits & (std::int64_t{1} << bit)) == 0) continue;
    if (use.active_moments[bit]++ == 0) use.first_active[bit] = moment;
    use.last_active[bit] = moment;
    use.active[bit] = saturating_add(use.active[bit], weight);
  }
}

void take_busy_reasons(ClockUse& use, std::int64_t bits, std::int64_t weight) {
  use.busy_told = saturating_add(use.busy_told, weight);
  if ((bits & clock_reason::kSwPowerCap) != 0) use.busy_capped = saturating_add(use.busy_capped, weight);
  if ((bits & clock_reason::kApplicationClocks) != 0) use.busy_set = saturating_add(use.busy_set, weight);
  if ((bits & ~(clock_reason::kIdle | clock_reason::kApplicationClocks)) != 0) {
    use.busy_held = saturating_add(use.busy_held, weight);
  }
}

// The limit in force where it is told.
std::optional<std::int64_t> power_limit(const LogDevice& device) {
  const auto enforced = last_known(device, Metric::enforced_power_limit);
  return enforced ? enforced : last_known(device, Metric::power_limit);
}

std::optional<std::int64_t> max_sm_clock(const LogDevice& device) {
  const auto sm = last_known(device, Metric::clocks_max_sm);
  const auto found = sm ? sm : last_known(device, Metric::clocks_max_graphics);
  return found && *found > 0 ? found : std::nullopt;
}

// What the walk over the moments of one device needs.
struct Walk {
  explicit Walk(const LogDevice& device)
      : reasons(device),
        busy(device, Metric::utilization_gpu),
        power(device, Metric::power_draw),
        sm(device, Metric::clocks_current_sm),
        graphics(device, Metric::clocks_current_graphics),
        limit_mw(power_limit(device)) {}
  ReasonReading reasons;
  MetricReading busy, power, sm, graphics;
  std::optional<std::int64_t> limit_mw;
  std::vector<std::int64_t> clocks;
};

void take_busy(ClockUse& use, Walk& walk, std::uint32_t moment, std::int64_t weight) {
  if (use.busy_moments++ == 0) use.first_busy = moment;
  use.last_busy = moment;
  use.busy = saturating_add(use.busy, weight);
  if (const auto power = walk.power.at(moment); power && walk.limit_mw && *walk.limit_mw > 0) {
    use.power_told = saturating_add(use.power_told, weight);
    if (*power >= *walk.limit_mw - *walk.limit_mw / 33) use.at_power_limit = saturating_add(use.at_power_limit, weight);
  }
  const auto sm = walk.sm.at(moment);
  const auto clock = sm ? sm : walk.graphics.at(moment);
  if (!clock || *clock <= 0) return;
  walk.clocks.push_back(*clock);
  use.clock_told = saturating_add(use.clock_told, weight);
}

ClockUse use_of(const DeviceLog& log, const LogDevice& device, const LogWeights& weights) {
  ClockUse use;
  Walk walk(device);
  for (std::uint32_t moment = 0; moment < log.moments; ++moment) {
    const std::int64_t weight = weights.weight[moment];
    const auto bits = walk.reasons.at(moment);
    if (bits) take_reasons(use, *bits, moment, weight);
    const auto busy = walk.busy.at(moment);
    if (!busy || *busy < kFullyBusyPercent) continue;
    take_busy(use, walk, moment, weight);
    if (bits) take_busy_reasons(use, *bits, weight);
  }
  use.clock_moments = static_cast<std::uint32_t>(walk.clocks.size());
  if (!walk.clocks.empty()) {
    const auto middle = walk.clocks.begin() + static_cast<std::ptrdiff_t>(walk.clocks.size() / 2);
    std::nth_element(walk.clocks.begin(), middle, walk.clocks.end());
    use.median_sm_mhz = *middle;
    use.highest_sm_mhz = *std::max_element(walk.clocks.begin(), walk.clocks.end());
  }
  use.max_sm_mhz = max_sm_clock(device);
  use.power_limit_mw = walk.limit_mw;
  use.power_default_mw = last_known(device, Metric::power_default_limit);
  use.has_power_limits = use.power_limit_mw && use.power_default_mw && *use.power_default_mw > 0;
  if (const auto power = known_range(device, Metric::power_draw)) use.most_power_mw = power->most;
  if (const auto heat = known_range(device, Metric::temperature_gpu)) use.most_temperature = heat->most;
  return use;
}

}  // namespace

std::vector<ClockUse> clock_use(const DeviceLog& log, const LogWeights& weights) {
  std::vector<ClockUse> all;
  for (const LogDevice& device : log.devices) all.push_back(use_of(log, device, weights));
  return all;
}

}  // namespace vramscope
