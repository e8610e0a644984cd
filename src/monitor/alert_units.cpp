#include "monitor/alert_units.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace vramscope {

namespace {

struct UnitName {
  std::string_view name;
  AlertUnit unit;
  double factor;
};

constexpr double kKi = 1024, kMi = kKi * 1024, kGi = kMi * 1024, kTi = kGi * 1024;

constexpr UnitName kUnitNames[] = {
    {"B", AlertUnit::bytes, 1},
    {"KiB", AlertUnit::bytes, kKi},
    {"MiB", AlertUnit::bytes, kMi},
    {"GiB", AlertUnit::bytes, kGi},
    {"TiB", AlertUnit::bytes, kTi},
    {"kB", AlertUnit::bytes, 1e3},
    {"MB", AlertUnit::bytes, 1e6},
    {"GB", AlertUnit::bytes, 1e9},
    {"TB", AlertUnit::bytes, 1e12},
    {"B/s", AlertUnit::bytes_per_second, 1},
    {"KiB/s", AlertUnit::bytes_per_second, kKi},
    {"MiB/s", AlertUnit::bytes_per_second, kMi},
    {"GiB/s", AlertUnit::bytes_per_second, kGi},
    {"kB/s", AlertUnit::bytes_per_second, 1e3},
    {"MB/s", AlertUnit::bytes_per_second, 1e6},
    {"GB/s", AlertUnit::bytes_per_second, 1e9},
    {"%", AlertUnit::percent, 1},
    {"mW", AlertUnit::milliwatts, 1},
    {"W", AlertUnit::milliwatts, 1e3},
    {"kW", AlertUnit::milliwatts, 1e6},
    {"mJ", AlertUnit::millijoules, 1},
    {"J", AlertUnit::millijoules, 1e3},
    {"kJ", AlertUnit::millijoules, 1e6},
    {"MHz", AlertUnit::megahertz, 1},
    {"GHz", AlertUnit::megahertz, 1e3},
    {"C", AlertUnit::celsius, 1},
    {"°C", AlertUnit::celsius, 1},
    {"us", AlertUnit::microseconds, 1},
    {"ms", AlertUnit::microseconds, 1e3},
    {"s", AlertUnit::microseconds, 1e6},
    {"ms", AlertUnit::milliseconds, 1},
    {"s", AlertUnit::milliseconds, 1e3},
};

bool may_lack_unit(AlertUnit unit) {
  return unit == AlertUnit::none || unit == AlertUnit::percent || unit == AlertUnit::celsius ||
         unit == AlertUnit::megahertz;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<WrittenNumber> read_number(std::string_view text) {
  WrittenNumber read;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), read.number, std::chars_format::fixed);
  constexpr double kMost = 1e15;
  if (error != std::errc() || !(std::abs(read.number) <= kMost)) return std::nullopt;
  read.unit = text.substr(static_cast<std::size_t>(end - text.data()));
  return read;
}

std::optional<double> in_unit(const WrittenNumber& written, AlertUnit unit) {
  if (written.unit.empty()) {
    if (may_lack_unit(unit) || written.number == 0) return written.number;
    return std::nullopt;
  }
  for (const UnitName& known : kUnitNames) {
    if (known.unit == unit && known.name == written.unit) return written.number * known.factor;
  }
  return std::nullopt;
}

std::string written_units(AlertUnit unit) {
  std::string list;
  for (const UnitName& known : kUnitNames) {
    if (known.unit != unit || known.name == "°C") continue;
    list += (list.empty() ? "" : ", ") + std::string(known.name);
  }
  return list;
}

std::optional<std::int64_t> read_duration_ns(std::string_view text) {
  const auto written = read_number(text);
  if (!written || !(written->number > 0)) return std::nullopt;
  constexpr std::pair<std::string_view, double> kTimes[] = {{"ms", 1e6},   {"s", 1e9},    {"m", 60e9},
                                                            {"min", 60e9}, {"h", 3600e9}, {"d", 86400e9}};
  constexpr double kMostNs = 3650 * 86400e9;
  for (const auto& [name, factor] : kTimes) {
    if (written->unit != name) continue;
    const double nanoseconds = written->number * factor;
    if (nanoseconds < 1 || nanoseconds > kMostNs) return std::nullopt;
    return std::llround(nanoseconds);
  }
  return std::nullopt;
}

std::string closest_name(std::string_view word, const std::vector<std::string_view>& names) {
  constexpr std::size_t kLongest = 100;  // a longer word is no slip of the pen
  if (word.size() > kLongest) return {};
  std::string_view best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(word, name);
    if (distance >= least) continue;
    least = distance;
    best = name;
  }
  return std::string(best);
}

}  // namespace vramscope
