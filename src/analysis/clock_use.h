#pragma once
// What held the clocks of each device down in a log, how long, and how high they were under full load.
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/log_weights.h"
#include "model/device_log.h"

namespace vramscope {

// Of one device. Weights as in LogWeights.
struct ClockUse {
  static constexpr std::size_t kBits = 8;  // of analysis/clock_reason_bits.h

  std::int64_t told = 0;  // of the moments that tell the reasons
  std::uint32_t told_moments = 0;
  std::array<std::int64_t, kBits> active{};  // with that bit
  std::array<std::uint32_t, kBits> active_moments{};
  std::array<std::uint32_t, kBits> first_active{}, last_active{};  // moments; meaningful where active

  // Of the moments at kFullyBusyPercent or above:
  std::int64_t busy = 0;
  std::uint32_t busy_moments = 0;
  std::int64_t busy_told = 0;       // that tell the reasons
  std::int64_t busy_capped = 0;     // with the software's power cap
  std::int64_t busy_held = 0;       // with any reason but idle
  std::int64_t busy_set = 0;        // with clocks that somebody has set
  std::int64_t power_told = 0;      // that tell power and its limit
  std::int64_t at_power_limit = 0;  // at 97 % of it or above
  std::uint32_t clock_moments = 0;  // that tell the SM clock
  std::int64_t clock_told = 0;
  std::optional<std::int64_t> median_sm_mhz, highest_sm_mhz;
  std::uint32_t first_busy = 0, last_busy = 0;

  std::optional<std::int64_t> max_sm_mhz;  // what the card can do
  std::optional<std::int64_t> power_limit_mw, power_default_mw, most_power_mw, most_temperature;
  bool has_power_limits = false;  // the limit that is in force, and what it would be without anybody's wish, are told
};

// One for each device of the log.
std::vector<ClockUse> clock_use(const DeviceLog& log, const LogWeights& weights);

}  // namespace vramscope
