#pragma once
// The PCIe link of each device of a log while the device works: a link that is idle slows down to save power.
#include <cstdint>
#include <optional>
#include <vector>

#include "model/device_log.h"

namespace vramscope {

// Of one device. Generations and lanes; the highest of all that the log tells while the device works.
struct LinkUse {
  std::uint32_t busy_moments = 0;  // at kBusyPercent or above, that tell generation or width
  std::uint32_t first_busy = 0, last_busy = 0;
  std::optional<std::int64_t> generation, width;
  std::optional<std::int64_t> most_generation, most_width;  // that device and slot can do together
};

// One for each device of the log.
std::vector<LinkUse> link_use(const DeviceLog& log);

}  // namespace vramscope
