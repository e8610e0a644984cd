// Values as panels show them.
#include <cmath>

#include "fmt/format.h"
#include "report/phrases.h"
#include "text/catalogue.h"
#include "text/format.h"
#include "tui/panels.h"

namespace vramscope::tui {

namespace {

constexpr double kHigh = 0.75;
constexpr double kFull = 0.9;

// The unit for a number of bytes, and what it is worth.
struct BinaryUnit {
  const char* name;
  double bytes;
};

BinaryUnit unit_of(std::int64_t bytes) {
  constexpr BinaryUnit kUnits[] = {{"TiB", 1099511627776.0}, {"GiB", 1073741824.0}, {"MiB", 1048576.0}};
  for (const BinaryUnit& unit : kUnits) {
    if (static_cast<double>(bytes) >= unit.bytes) return unit;
  }
  return {"KiB", 1024.0};
}

}  // namespace

std::string bytes_text(std::optional<std::int64_t> bytes) {
  return bytes ? format_bytes(*bytes) : tr("N/A");
}

std::string part_of_bytes(std::optional<std::int64_t> part, std::optional<std::int64_t> whole) {
  if (!whole || *whole <= 0) return bytes_text(part);
  const BinaryUnit unit = unit_of(*whole);
  const std::string of_whole = fmt::format("{:.1f} {}", static_cast<double>(*whole) / unit.bytes, unit.name);
  if (!part) return std::string(tr("N/A")) + "/" + of_whole;
  return fmt::format("{:.1f}/{}", static_cast<double>(*part) / unit.bytes, of_whole);
}

std::string temperature_text(std::optional<std::int64_t> celsius, bool fahrenheit, bool ascii) {
  if (!celsius) return tr("N/A");
  const char* degree = ascii ? "" : "°";
  if (!fahrenheit) return fmt::format("{}{}C", *celsius, degree);
  return fmt::format("{}{}F", std::lround(32 + static_cast<double>(*celsius) * 1.8), degree);
}

std::string power_text(std::optional<std::int64_t> milliwatts, std::optional<std::int64_t> limit) {
  if (!milliwatts) return tr("N/A");
  const auto watts = [](std::int64_t value) { return (value + 500) / 1000; };
  return limit ? fmt::format("{}/{} W", watts(*milliwatts), watts(*limit)) : fmt::format("{} W", watts(*milliwatts));
}

std::string percent_text(std::optional<std::int64_t> percent) {
  return percent ? fmt::format("{}%", *percent) : tr("N/A");
}

Style load_style(double share) {
  return share > kFull ? Style::bad : share > kHigh ? Style::warning : Style::good;
}

Style severity_style(Severity severity) {
  return severity == Severity::error ? Style::bad : severity == Severity::warning ? Style::warning : Style::normal;
}

Style curve_style(Curve curve) {
  return static_cast<Style>(static_cast<int>(Style::curve_0) + static_cast<int>(curve));
}

std::string window_text(std::size_t zoom) {
  const std::int64_t seconds = kWindows[zoom];
  if (seconds < 3600) return filled(tr("{count} min"), fmt::arg("count", seconds / 60));
  return filled(tr("{count} h"), fmt::arg("count", seconds / 3600));
}

}  // namespace vramscope::tui
