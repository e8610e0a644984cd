#pragma once
// Setting metrics from files of sysfs, with the state of what cannot be read.
#include <cstdint>
#include <limits>
#include <optional>

#include "devices/backends/drm/sysfs_folder.h"
#include "model/metric.h"
#include "system/fields.h"

namespace vramscope::drm {

// From the unit of a file to the metric's.
struct Scale {
  std::int64_t times = 1;
  std::int64_t divided_by = 1;  // rounds to the nearest
};
inline constexpr Scale kAsItIs{1, 1};
inline constexpr Scale kMicroToMilli{1, 1000};
inline constexpr Scale kHertzToMega{1, 1'000'000};

struct Fill {
  MetricValues& values;
  const MetricMask& wanted;

  bool wants(Metric metric) const { return wanted.test(index_of(metric)); }
  // Sets it, when it is known and within the bounds.
  void set(Metric metric, std::optional<std::int64_t> value, std::int64_t least = 0,
           std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
    if (!value) return;
    if (*value >= least && *value <= most) {
      values.set(metric, *value);
    } else {
      values.set_missing(metric, ValueState::failed);  // no such value exists: the driver's own mistake
    }
  }
  // The number in a file.
  void read(Metric metric, SysfsFolder& folder, const char* file, Scale scale = kAsItIs, std::int64_t least = 0,
            std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
    if (!wants(metric)) return;
    const auto number = folder.number(file);
    if (!number) {
      values.set_missing(metric, folder.problem());
      return;
    }
    set(metric, scaled(*number, scale), least, most);
  }
  void read_text(Metric metric, SysfsFolder& folder, const char* file) {
    if (!wants(metric)) return;
    const auto text = folder.text(file);
    if (text && !text->empty()) values.set_text(metric, *text);
  }

  static std::int64_t scaled(std::int64_t number, Scale scale) {
    if (scale.divided_by > 1) {
      const std::int64_t half = scale.divided_by / 2;
      const std::int64_t rest = number % scale.divided_by;
      return number / scale.divided_by + (rest >= half ? 1 : rest < -half ? -1 : 0);
    }
    return product(number, scale.times).value_or(-1);
  }
};

inline constexpr std::int64_t kMostPercent = 100;
inline constexpr std::int64_t kLeastCelsius = -60, kMostCelsius = 250;

}  // namespace vramscope::drm
