#include "model/device_log_builder.h"

namespace vramscope {

void DeviceLogBuilder::begin_moment(std::int64_t time_ns) {
  constexpr std::uint32_t kMostMoments = 1U << 30;
  if (log_.moments > 0 && time_ns == log_.time_ns.back()) return;
  if (log_.moments >= kMostMoments) return;
  if (log_.moments > 0) time_ns = std::max(time_ns, log_.time_ns.back());
  ++log_.moments;
  log_.time_ns.push_back(time_ns);
  log_.first_use.push_back(static_cast<std::uint32_t>(log_.uses.size()));
  log_.tells_processes.push_back(0);
}

std::uint32_t DeviceLogBuilder::add_device(LogDevice device) {
  log_.devices.push_back(std::move(device));
  places_.emplace_back(kMetricCount);
  return static_cast<std::uint32_t>(log_.devices.size() - 1);
}

void DeviceLogBuilder::add_run(std::uint32_t device, Metric metric, ValueState state, std::int64_t value) {
  std::vector<LogSeries>& all = log_.devices[device].series;
  std::uint16_t& place = places_[device][index_of(metric)];
  if (place == 0) {
    all.emplace_back();
    all.back().metric = metric;
    place = static_cast<std::uint16_t>(all.size());
  }
  LogSeries& series = all[place - 1U];
  if (!series.state.empty() && series.state.back() == state && series.value.back() == value) return;
  if (!series.moment.empty() && series.moment.back() == now()) {  // the later one counts
    series.value.back() = value;
    series.state.back() = state;
    return;
  }
  series.moment.push_back(now());
  series.value.push_back(value);
  series.state.push_back(state);
}

void DeviceLogBuilder::set(std::uint32_t device, Metric metric, ValueState state, std::int64_t value) {
  if (info_of(metric).unit == MetricUnit::text) return;
  const bool has_number = state == ValueState::known || state == ValueState::failed;
  add_run(device, metric, state, has_number ? value : 0);
}

void DeviceLogBuilder::set_text(std::uint32_t device, Metric metric, std::string_view text) {
  if (info_of(metric).unit != MetricUnit::text || text.empty()) return;
  auto found = text_ids_.find(text);
  if (found == text_ids_.end()) {
    found = text_ids_.emplace(std::string(text), static_cast<std::int64_t>(log_.texts.size())).first;
    log_.texts.emplace_back(text);
  }
  add_run(device, metric, ValueState::known, found->second);
}

void DeviceLogBuilder::list_processes() {
  if (log_.moments > 0) log_.tells_processes.back() = 1;
}

std::uint32_t DeviceLogBuilder::add_process(LogProcess process) {
  log_.processes.push_back(std::move(process));
  return static_cast<std::uint32_t>(log_.processes.size() - 1);
}

void DeviceLogBuilder::add_use(const LogUse& use) {
  if (log_.moments > 0 && log_.uses.size() < UINT32_MAX - 1) log_.uses.push_back(use);
}

DeviceLog DeviceLogBuilder::take(LogClock clock, std::string part) {
  log_.clock = clock;
  log_.parts.push_back(std::move(part));
  log_.first_use.push_back(static_cast<std::uint32_t>(log_.uses.size()));
  return std::move(log_);
}

}  // namespace vramscope
