#include "text/curve_ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "text/format.h"
#include "text/utf8.h"

namespace vramscope {
namespace {

constexpr double kSecond = 1e9;

// "1.50 GiB" -> "1.5 GiB", "500.000 ms" -> "500 ms": round values need no zeros.
std::string without_zeros(const std::string& label) {
  const std::size_t point = label.find('.');
  if (point == std::string::npos) return label;
  std::size_t end = label.find_first_not_of("0123456789", point + 1);
  if (end == std::string::npos) end = label.size();
  std::size_t keep = end;
  while (keep > point + 1 && label[keep - 1] == '0') --keep;
  if (keep == point + 1) keep = point;
  return label.substr(0, keep) + label.substr(end);
}

std::string value_label(double value, const CurveOptions& options) {
  return printable(
      without_zeros(options.format_value != nullptr ? options.format_value(value) : fmt::format("{:.4g}", value)));
}

std::string time_label(std::int64_t time, const CurveOptions& options) {
  if (time == 0) return "0";
  return printable(without_zeros(options.format_time != nullptr ? options.format_time(time) : format_duration(time)));
}

// The first of 1, 2, 5, 10, … times a power of ten that is not below `least`, which is > 0.
double decimal_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) return factor * power;
  }
  return 10 * power;
}

double value_step(double least, bool binary) {
  if (!binary || least < 1) return decimal_step(least);
  return std::pow(2.0, std::ceil(std::log2(least)));
}

double time_step(double least) {
  if (least <= 10 * kSecond) return decimal_step(std::max(least, 1.0));
  for (const double seconds : {20., 30., 60., 120., 300., 600., 1200., 1800., 3600., 7200., 10800., 21600., 43200.}) {
    if (seconds * kSecond >= least) return seconds * kSecond;
  }
  return decimal_step(least / (86400 * kSecond)) * 86400 * kSecond;
}

}  // namespace

std::vector<Tick> value_ticks(const CurveWindow& window, const CurveOptions& options) {
  constexpr double kRowsApart = 2.5;
  const std::size_t last = options.height - 1;
  std::vector<Tick> ticks{{last, value_label(window.low, options)}};
  if (window.all_zero) return ticks;
  const std::string top = value_label(window.high, options);
  const double range = window.high - window.low;
  if (std::isfinite(range) && options.height > 4) {
    const double step = value_step(range / static_cast<double>(options.height) * kRowsApart, options.binary);
    const std::size_t levels = options.height * levels_a_row(options.ascii);
    double value = std::ceil(window.low / step) * step;
    for (std::size_t i = 0; i < options.height && value <= window.high; ++i, value += step) {
      const std::size_t row = last - level_of(window, value, levels) / levels_a_row(options.ascii);
      if (row + 2 > ticks.back().at || row < 2) continue;
      std::string label = value_label(value, options);
      if (label == ticks.back().label || label == top) continue;
      ticks.push_back({row, std::move(label)});
    }
  }
  if (last > 0 && top != ticks.front().label) ticks.push_back({0, top});
  return ticks;
}

std::vector<Tick> time_ticks(const CurveWindow& window, std::size_t columns, const CurveOptions& options) {
  constexpr double kColumnsApart = 14;
  std::vector<Tick> ticks{{0, time_label(0, options)}};
  const std::uint64_t span =
      static_cast<std::uint64_t>(window.end_time) - static_cast<std::uint64_t>(window.begin_time);
  if (span == 0) return ticks;
  const double least = static_cast<double>(span) * kColumnsApart / static_cast<double>(columns);
  const double step = time_step(least);
  for (double time = step; time <= static_cast<double>(span); time += step) {
    if (time >= static_cast<double>(std::numeric_limits<std::int64_t>::max())) break;
    const auto offset = static_cast<std::int64_t>(time);
    const auto at =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(window.begin_time) + static_cast<std::uint64_t>(offset));
    ticks.push_back({column_of(window, at, columns), time_label(offset, options)});
  }
  // Too narrow for a round time: the end.
  if (ticks.size() == 1 && span <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    ticks.push_back({columns - 1, time_label(static_cast<std::int64_t>(span), options)});
  }
  return ticks;
}

}  // namespace vramscope
