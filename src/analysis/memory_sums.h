#pragma once
// Sums of byte counts that come from files: they stop at the ends of the range instead of overflowing.
#include <cstdint>
#include <limits>

namespace vramscope {

// The smallest int64 means "unknown" in columns, so sums never reach it.
inline constexpr std::int64_t kLargestSum = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kSmallestSum = -kLargestSum;

constexpr std::int64_t add_bytes(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return b > 0 ? kLargestSum : kSmallestSum;
  return sum < kSmallestSum ? kSmallestSum : sum;
}

constexpr std::int64_t subtract_bytes(std::int64_t a, std::int64_t b) {
  std::int64_t rest = 0;
  if (__builtin_sub_overflow(a, b, &rest)) return b < 0 ? kLargestSum : kSmallestSum;
  return rest < kSmallestSum ? kSmallestSum : rest;
}

// The size of an event, whichever its direction.
constexpr std::int64_t size_of_bytes(std::int64_t bytes) {
  return bytes < 0 ? subtract_bytes(0, bytes) : bytes;
}

}  // namespace vramscope
