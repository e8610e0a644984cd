#pragma once
// From where on something about a device is worth telling: the same for a look at it now and for a log of it.
#include <algorithm>
#include <cstdint>

namespace vramscope {

inline constexpr double kFullShare = 0.9;              // of the memory that can be used
inline constexpr std::int64_t kIdlePercent = 20;       // of time: below it a GPU does little
inline constexpr std::int64_t kBusyPercent = 50;       // from here on it works
inline constexpr std::int64_t kFullyBusyPercent = 80;  // clocks and power are what the card can do

// What the driver itself takes of a memory of `total_bytes`: some hundred MiB, more on large cards.
inline std::int64_t driver_bytes(std::int64_t total_bytes) {
  constexpr std::int64_t kLeast = std::int64_t{1} << 30;
  return std::max(kLeast, total_bytes / 50);
}

}  // namespace vramscope
