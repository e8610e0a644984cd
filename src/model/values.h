#pragma once
// Short ways to write down the values of a finding.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "model/finding.h"

namespace vramscope {

inline Value bytes_value(std::int64_t bytes) {
  return {bytes, Unit::bytes};
}
inline Value bytes_per_step(std::int64_t bytes) {
  return {bytes, Unit::bytes_per_step};
}
inline Value bytes_per_hour(double bytes) {
  return {static_cast<std::int64_t>(std::clamp(bytes, 0.0, 9.0e18)), Unit::bytes_per_hour};
}
inline Value time_value(std::int64_t nanoseconds) {
  return {nanoseconds, Unit::nanoseconds};
}
inline Value share_value(double share) {
  return {share, Unit::share};
}
inline Value count_value(std::int64_t count) {
  return {count, Unit::count};
}
inline Value text_value(std::string text) {
  return {std::move(text), Unit::none};
}

}  // namespace vramscope
