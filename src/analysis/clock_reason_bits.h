#pragma once
// Bits of Metric::clocks_event_reasons_active: nvmlClocksEventReason… in NVIDIA's nvml.h.
#include <cstdint>

namespace vramscope::clock_reason {

inline constexpr std::int64_t kIdle = 0x1;
inline constexpr std::int64_t kApplicationClocks = 0x2;  // clocks that somebody has set
inline constexpr std::int64_t kSwPowerCap = 0x4;
inline constexpr std::int64_t kHwSlowdown = 0x8;
inline constexpr std::int64_t kSwThermal = 0x20;
inline constexpr std::int64_t kHwThermal = 0x40;
inline constexpr std::int64_t kPowerBrake = 0x80;
// Heat, power supplies, hardware: what holds clocks down against everybody's wish.
inline constexpr std::int64_t kThrottled = kHwSlowdown | kSwThermal | kHwThermal | kPowerBrake;

}  // namespace vramscope::clock_reason
