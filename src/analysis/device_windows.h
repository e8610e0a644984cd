#pragma once
// A log of devices cut into windows of half a minute, the same ones for every device, and what each device did in them.
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/log_weights.h"
#include "model/device_log.h"

namespace vramscope {

// Of one device in one window. Figures are of the moments that tell its utilisation.
struct DeviceWindow {
  std::int64_t weight = 0;  // as in LogWeights; 0: the utilisation is not told here
  double mean_busy = 0;     // percent
  std::int64_t most_busy = 0;
  std::int64_t low = 0;                               // weight of the moments at kIdlePercent or below
  std::int64_t high = 0;                              // at kBusyPercent or above
  std::int64_t falls = 0;                             // times it went from high to low
  std::optional<std::int64_t> least_used, most_used;  // bytes
};

struct DeviceWindows {
  std::vector<std::uint32_t> first;                // moment of each window; one more at the end
  std::vector<std::int64_t> weight;                // of each window
  std::vector<std::vector<DeviceWindow>> devices;  // of each device of the log, one for each window
};

// A window has at least this long and kWindowMoments, or, without a clock, kWindowMomentsOnly. None reaches over a gap;
// what is left over is in none.
inline constexpr std::int64_t kWindowNs = 30'000'000'000;
inline constexpr std::int64_t kWindowMoments = 5;
inline constexpr std::int64_t kWindowMomentsOnly = 10;

DeviceWindows device_windows(const DeviceLog& log, const LogWeights& weights);

}  // namespace vramscope
