#pragma once
// Reads single metrics of a log of devices.
#include <cstdint>
#include <optional>
#include <string>

#include "model/device_log.h"

namespace vramscope {

const LogSeries* series_of(const LogDevice& device, Metric metric);

// Reads one metric of one device moment by moment; the moments asked for must not fall. The log must outlive it.
class MetricReading {
 public:
  MetricReading(const LogDevice& device, Metric metric) : series_(series_of(device, metric)) {}
  // Empty where the log does not tell a known value at that moment.
  std::optional<std::int64_t> at(std::uint32_t moment) {
    if (series_ == nullptr) return std::nullopt;
    while (next_ < series_->moment.size() && series_->moment[next_] <= moment) ++next_;
    if (next_ == 0 || series_->state[next_ - 1] != ValueState::known) return std::nullopt;
    return series_->value[next_ - 1];
  }

 private:
  const LogSeries* series_;
  std::size_t next_ = 0;  // the run that comes next
};

// What a metric was over the whole log.
struct KnownRange {
  std::int64_t first = 0, last = 0, least = 0, most = 0;
  std::uint32_t most_moment = 0;  // the first with the highest value
};
// Empty where the log never tells it.
std::optional<KnownRange> known_range(const LogDevice& device, Metric metric);

// The last known value, for what hardly changes: sizes, limits, names.
std::optional<std::int64_t> last_known(const LogDevice& device, Metric metric);
std::string last_text(const DeviceLog& log, const LogDevice& device, Metric metric);

// What of its memory the device can give, as far as the log ever tells: total without what the driver reserves, or what
// is used and free together.
std::optional<std::int64_t> usable_bytes(const LogDevice& device);

bool has_mig_devices(const DeviceLog& log, std::size_t place);

}  // namespace vramscope
