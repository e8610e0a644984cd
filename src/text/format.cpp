#include "text/format.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "text/catalogue.h"

namespace vramscope {
namespace {

// Also of INT64_MIN.
std::uint64_t magnitude(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? std::uint64_t{0} - bits : bits;
}

constexpr std::uint64_t kNanosPerSecond = 1'000'000'000;

// `value / unit` rounded to a whole number, halves up. unit > 1.
std::uint64_t rounded(std::uint64_t value, std::uint64_t unit) {
  return value / unit + (value % unit >= unit - unit / 2 ? 1 : 0);
}

std::string long_duration(std::uint64_t seconds) {
  if (seconds < 3600) {
    return fmt::format(fmt::runtime(tr("{minutes} min {seconds:02} s")), fmt::arg("minutes", seconds / 60),
                       fmt::arg("seconds", seconds % 60));
  }
  const std::uint64_t minutes = rounded(seconds, 60);
  return fmt::format(fmt::runtime(tr("{hours} h {minutes:02} min")), fmt::arg("hours", minutes / 60),
                     fmt::arg("minutes", minutes % 60));
}

std::string positive_duration(std::uint64_t ns) {
  if (ns < 1000) return fmt::format("{} ns", ns);
  if (const std::uint64_t v = rounded(ns, 10); v < 100'000) return fmt::format("{}.{:02} us", v / 100, v % 100);
  // What is exact, as lengths that people chose are, needs no digits behind the point.
  if (ns < kNanosPerSecond && ns % 1'000'000 == 0) return fmt::format("{} ms", ns / 1'000'000);
  if (ns < 60 * kNanosPerSecond && ns % kNanosPerSecond == 0) return fmt::format("{} s", ns / kNanosPerSecond);
  if (const std::uint64_t v = rounded(ns, 1000); v < 1'000'000) return fmt::format("{}.{:03} ms", v / 1000, v % 1000);
  if (const std::uint64_t v = rounded(ns, 1'000'000); v < 60'000) return fmt::format("{}.{:03} s", v / 1000, v % 1000);
  return long_duration(rounded(ns, kNanosPerSecond));
}

}  // namespace

std::string format_bytes(std::int64_t bytes) {
  constexpr std::array<const char*, 6> kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  const char* sign = bytes < 0 ? "-" : "";
  const std::uint64_t size = magnitude(bytes);
  if (size < 1024) return fmt::format("{}{} B", sign, size);
  double value = static_cast<double>(size) / 1024;
  std::size_t unit = 0;
  while (value >= 1023.995 && unit + 1 < kUnits.size()) {  // would be shown as 1024.00
    value /= 1024;
    ++unit;
  }
  return fmt::format("{}{:.2f} {}", sign, value, kUnits[unit]);
}

std::string format_duration(std::int64_t nanoseconds) {
  return (nanoseconds < 0 ? "-" : "") + positive_duration(magnitude(nanoseconds));
}

std::string format_count(std::int64_t count) {
  const std::string digits = fmt::format("{}", magnitude(count));
  std::string out = count < 0 ? "-" : "";
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string format_share(double share) {
  if (!std::isfinite(share * 100)) return tr("N/A");
  const double percent = std::fabs(share) < 0.0005 ? 0.0 : share * 100;  // no "-0.0 %"
  return fmt::format("{:.1f} %", percent);
}

std::string format_torch_time(double microseconds) {
  if (microseconds >= 1000.0 * 1000.0) return fmt::format("{:.3f}s", microseconds / (1000.0 * 1000.0));
  if (microseconds >= 1000.0) return fmt::format("{:.3f}ms", microseconds / 1000.0);
  return fmt::format("{:.3f}us", microseconds);
}

std::string format_torch_memory(std::int64_t bytes) {
  constexpr std::uint64_t kKilo = 1024;
  constexpr std::uint64_t kMega = 1024 * kKilo;
  constexpr std::uint64_t kGiga = 1024 * kMega;
  const std::uint64_t size = magnitude(bytes);
  const auto value = static_cast<double>(bytes);
  if (size >= kGiga) return fmt::format("{:.2f} GB", value / static_cast<double>(kGiga));
  if (size >= kMega) return fmt::format("{:.2f} MB", value / static_cast<double>(kMega));
  if (size >= kKilo) return fmt::format("{:.2f} KB", value / static_cast<double>(kKilo));
  return fmt::format("{} B", bytes);
}

}  // namespace vramscope
