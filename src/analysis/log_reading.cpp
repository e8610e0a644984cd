#include "analysis/log_reading.h"

#include <algorithm>

#include "analysis/memory_sums.h"

namespace vramscope {

const LogSeries* series_of(const LogDevice& device, Metric metric) {
  for (const LogSeries& series : device.series) {
    if (series.metric == metric) return &series;
  }
  return nullptr;
}

std::optional<KnownRange> known_range(const LogDevice& device, Metric metric) {
  const LogSeries* series = series_of(device, metric);
  if (series == nullptr) return std::nullopt;
  std::optional<KnownRange> range;
  for (std::size_t run = 0; run < series->moment.size(); ++run) {
    if (series->state[run] != ValueState::known) continue;
    const std::int64_t value = series->value[run];
    if (!range) range = KnownRange{value, value, value, value, series->moment[run]};
    range->last = value;
    range->least = std::min(range->least, value);
    if (value > range->most) range->most_moment = series->moment[run];
    range->most = std::max(range->most, value);
  }
  return range;
}

std::optional<std::int64_t> last_known(const LogDevice& device, Metric metric) {
  const LogSeries* series = series_of(device, metric);
  if (series == nullptr) return std::nullopt;
  for (std::size_t run = series->moment.size(); run-- > 0;) {
    if (series->state[run] == ValueState::known) return series->value[run];
  }
  return std::nullopt;
}

std::string last_text(const DeviceLog& log, const LogDevice& device, Metric metric) {
  const std::optional<std::int64_t> place = last_known(device, metric);
  if (!place || *place < 0 || static_cast<std::size_t>(*place) >= log.texts.size()) return {};
  return log.texts[static_cast<std::size_t>(*place)];
}

std::optional<std::int64_t> usable_bytes(const LogDevice& device) {
  auto total = last_known(device, Metric::memory_total);
  if (!total) {
    const auto used = last_known(device, Metric::memory_used);
    const auto free = last_known(device, Metric::memory_free);
    if (used && free) total = add_bytes(*used, *free);
  }
  if (!total || *total <= 0) return std::nullopt;
  const std::int64_t usable = subtract_bytes(*total, last_known(device, Metric::memory_reserved).value_or(0));
  return usable > 0 ? std::optional(usable) : std::nullopt;
}

bool has_mig_devices(const DeviceLog& log, std::size_t place) {
  return std::any_of(log.devices.begin(), log.devices.end(),
                     [&](const LogDevice& device) { return device.parent == place; });
}

}  // namespace vramscope
