#include "import/readers/kineto/numbers.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace vramscope::kineto {

namespace {

constexpr bool kIsLittleEndian = std::endian::native == std::endian::little;
constexpr std::int64_t kMostNs = std::int64_t{1} << 62;

bool is_digit(char c) {
  return static_cast<unsigned char>(c - '0') <= 9;
}
std::uint64_t digit(char c) {
  return static_cast<std::uint64_t>(c - '0');
}

// The value of the eight digits at `at`, or false when one of them is none. Each step joins neighbours: bytes to
// pairs, pairs to fours, fours to eight.
bool eight_digits(const char* at, std::uint64_t& value) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, 8);
  constexpr std::uint64_t kHigh = 0xf0f0f0f0f0f0f0f0u;
  constexpr std::uint64_t kZeros = 0x3030303030303030u;
  if ((bytes & kHigh) != kZeros || ((bytes + 0x0606060606060606u) & kHigh) != kZeros) return false;
  bytes -= kZeros;
  bytes = bytes * 10 + (bytes >> 8);
  constexpr std::uint64_t kPairs = 0x000000ff000000ffu;
  value = ((bytes & kPairs) * (100 + (std::uint64_t{1000000} << 32)) +
           ((bytes >> 16) & kPairs) * (1 + (std::uint64_t{10000} << 32))) >>
          32;
  return true;
}

std::optional<double> finite(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::int64_t> nanoseconds_from_microseconds(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const bool negative = at < end && *at == '-';
  if (negative) ++at;
  constexpr std::ptrdiff_t kMostDigits = 16;  // of whole microseconds: 10^16 us is beyond 2^62 ns
  const char* const whole = at;
  std::uint64_t value = 0;
  for (std::uint64_t eight = 0; kIsLittleEndian && end - at >= 8 && at - whole < 16 && eight_digits(at, eight);
       at += 8) {
    value = value * 100000000 + eight;
  }
  for (; at < end && is_digit(*at); ++at) value = value * 10 + digit(*at);
  if (at - whole > kMostDigits || value > static_cast<std::uint64_t>(kMostNs) / 1000) return std::nullopt;
  if (at == whole && (at == end || *at != '.')) return std::nullopt;
  value *= 1000;
  if (at < end && *at == '.') {
    const char* const fraction = ++at;
    for (const std::uint64_t place : {100u, 10u, 1u}) {
      if (at < end && is_digit(*at)) value += digit(*at++) * place;
    }
    if (at < end && is_digit(*at)) {
      if (*at >= '5') ++value;
      while (at < end && is_digit(*at)) ++at;
    }
    if (at == fraction && fraction - 1 == whole) return std::nullopt;  // "." alone
  }
  if (at == end) return negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
  if (*at != 'e' && *at != 'E') return std::nullopt;
  const std::optional<double> microseconds = finite(text);
  if (!microseconds || std::fabs(*microseconds) >= static_cast<double>(kMostNs) / 1000) return std::nullopt;
  return std::llround(*microseconds * 1000);
}

std::optional<std::int64_t> integer(std::string_view text, bool wrap) {
  const char* const end = text.data() + text.size();
  constexpr std::size_t kSafeDigits = 18;
  if (!text.empty() && text.size() <= kSafeDigits) {
    std::uint64_t plain = 0;
    const char* at = text.data();
    while (at < end && is_digit(*at)) plain = plain * 10 + digit(*at++);
    if (at == end) return static_cast<std::int64_t>(plain);
  }
  if (text.empty()) return std::nullopt;
  std::int64_t value = 0;
  if (const auto [at, error] = std::from_chars(text.data(), end, value); error == std::errc() && at == end) {
    return value;
  }
  if (wrap) {
    std::uint64_t bits = 0;
    if (const auto [at, error] = std::from_chars(text.data(), end, bits); error == std::errc() && at == end) {
      return static_cast<std::int64_t>(bits);
    }
  }
  const std::optional<double> number = finite(text);
  if (!number || std::fabs(*number) >= 9.2e18) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  const std::optional<std::int64_t> number = integer(text);
  if (!number || text.find_first_of(".eE") == std::string_view::npos) return number;
  const std::optional<double> exact = finite(text);
  return exact && *exact - std::floor(*exact) > 0 ? std::nullopt : number;
}

bool is_number(std::string_view text) {
  if (text.find_first_not_of("+-.0123456789eE") != std::string_view::npos) return false;  // "inf" and its like
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error != std::errc::invalid_argument && end == text.data() + text.size();
}

}  // namespace vramscope::kineto
