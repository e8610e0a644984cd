#include "monitor/alert_reading.h"

#include <algorithm>
#include <cmath>

#include "monitor/verdict_rule.h"

namespace vramscope {

namespace {

// A GPU's memory is full for a rule that has fired when less than this share of it is left.
constexpr double kFullShare = 0.02;

AlertTruth judge(const AlertRule& rule, double value) {
  if (compare(value, rule.comparison, rule.threshold)) return AlertTruth::yes;
  const double margin = std::abs(rule.threshold) * kAlertMargin;
  switch (rule.comparison) {
    case AlertComparison::above:
    case AlertComparison::at_least:
      return value <= rule.threshold - margin ? AlertTruth::clear : AlertTruth::no;
    case AlertComparison::below:
    case AlertComparison::at_most:
      return value >= rule.threshold + margin ? AlertTruth::clear : AlertTruth::no;
    case AlertComparison::equal:
    case AlertComparison::not_equal:
      break;
  }
  return AlertTruth::clear;
}

void read_value(const AlertRule& rule, const DeviceSample& device, std::int64_t number, AlertReading& reading) {
  reading.value = static_cast<double>(number);
  if (rule.is_share) {
    reading.value_bytes = number;
    reading.total_bytes = usable_bytes(device);  // as in the lines and verdicts about memory
    reading.value.reset();
    if (!reading.total_bytes || *reading.total_bytes <= 0) return;
    reading.value = 100.0 * static_cast<double>(number) / static_cast<double>(*reading.total_bytes);
  }
  reading.truth = judge(rule, *reading.value);
}

void read_metric(const AlertRule& rule, const DeviceSample& device, AlertReading& reading) {
  const MetricValue& value = device.values[*rule.metric];
  const bool is_missing = value.state == ValueState::not_supported || value.state == ValueState::no_permission ||
                          value.state == ValueState::not_asked;
  reading.is_supported = !is_missing;
  if (device.is_lost || value.state != ValueState::known) return;
  read_value(rule, device, value.number, reading);
}

void read_growing(const DeviceSample& device, const DeviceHistory* history, AlertReading& reading) {
  reading.is_supported = device.is_lost || device.values.is_known(Metric::memory_used);
  if (device.is_lost || !reading.is_supported || history == nullptr) return;
  const Growth& growth = history->growth.growth();
  if (growth.state == GrowthState::none) {
    reading.truth = AlertTruth::clear;
    return;
  }
  reading.value = growth.bytes_per_hour;
  reading.truth = growth.state == GrowthState::growing ? AlertTruth::yes : AlertTruth::no;
}

void read_full(const AlertRule& rule, const AlertLook& look, const DeviceSample& device, const DeviceHistory* history,
               AlertReading& reading) {
  reading.is_supported =
      device.is_lost || (device.values.is_known(Metric::memory_used) && device.values.is_known(Metric::memory_total));
  if (device.is_lost || !reading.is_supported || history == nullptr) return;
  const std::int64_t total = *device.number(Metric::memory_total);
  const std::int64_t usable = total - device.number(Metric::memory_reserved).value_or(0);
  const std::int64_t used = *device.number(Metric::memory_used);
  const auto left_ns = look.monitor.time_until_full_ns(*history);
  if (left_ns) {
    reading.value = static_cast<double>(*left_ns);
    const double within = static_cast<double>(rule.within_ns);
    reading.truth = *reading.value <= within                        ? AlertTruth::yes
                    : *reading.value <= within * (1 + kAlertMargin) ? AlertTruth::no
                                                                    : AlertTruth::clear;
    return;
  }
  // What is full grows no more: that is no reason to call it over, nor to call it growth.
  const bool is_full = static_cast<double>(usable - used) <= static_cast<double>(usable) * kFullShare;
  reading.truth = is_full ? AlertTruth::unknown : AlertTruth::clear;
}

void read_processes(const AlertRule& rule, const LiveSample& sample, std::size_t place,
                    std::vector<AlertReading>& readings) {
  const DeviceSample& device = sample.devices()[place];
  for (const DeviceProcess& process : device.processes) {
    AlertReading reading;
    reading.device = place;
    reading.process = &process;
    const ProcessKey key = process_key(sample, process.pid);
    reading.id = device_key(sample, place) + ' ' + std::to_string(key.pid) + ' ' + std::to_string(key.start_ticks);
    reading.is_supported = process.used_bytes.has_value();
    if (process.used_bytes && !device.is_lost) read_value(rule, device, *process.used_bytes, reading);
    readings.push_back(std::move(reading));
  }
}

}  // namespace

std::string device_key(const LiveSample& sample, std::size_t place) {
  return device_key(sample, sample.devices()[place]);
}

ProcessKey process_key(const LiveSample& sample, std::int64_t pid) {
  ProcessKey key;
  key.pid = static_cast<std::int32_t>(pid);
  if (const HostProcess* host = sample.find(pid)) key.start_ticks = host->process.key.start_ticks;
  return key;
}

bool is_in_scope(const AlertRule& rule, const LiveSample& sample, std::size_t place) {
  if (rule.gpus.empty() && rule.uuids.empty()) return true;
  const DeviceSample& device = sample.devices()[place];
  const DeviceSample& gpu = device.parent ? sample.devices()[static_cast<std::size_t>(*device.parent)] : device;
  if (std::find(rule.gpus.begin(), rule.gpus.end(), gpu.index) != rule.gpus.end()) return true;
  const auto has = [&](std::string_view uuid) {
    return std::find(rule.uuids.begin(), rule.uuids.end(), uuid) != rule.uuids.end();
  };
  return has(device.text(Metric::uuid)) || has(gpu.text(Metric::uuid));
}

std::vector<AlertReading> read_alert(const AlertRule& rule, const AlertLook& look) {
  std::vector<AlertReading> readings;
  const std::vector<DeviceSample>& devices = look.sample.devices();
  for (std::size_t place = 0; place < devices.size(); ++place) {
    const DeviceSample& device = devices[place];
    if (!is_in_scope(rule, look.sample, place)) continue;
    if (rule.condition == AlertCondition::process_memory) {
      read_processes(rule, look.sample, place, readings);
      continue;
    }
    AlertReading reading;
    reading.id = device_key(look.sample, place);
    reading.device = place;
    const DeviceHistory* history = look.monitor.find_device(reading.id);
    switch (rule.condition) {
      case AlertCondition::metric:
        read_metric(rule, device, reading);
        break;
      case AlertCondition::memory_growing:
        read_growing(device, history, reading);
        break;
      case AlertCondition::full_within:
        read_full(rule, look, device, history, reading);
        break;
      case AlertCondition::gpu_lost:
        if (device.parent) continue;
        reading.truth = device.is_lost ? AlertTruth::yes : AlertTruth::clear;
        break;
      case AlertCondition::process_memory:
      case AlertCondition::process_gone:
      case AlertCondition::xid:
        break;
    }
    readings.push_back(std::move(reading));
  }
  return readings;
}

}  // namespace vramscope
