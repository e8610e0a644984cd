#pragma once
// Samples made by hand, a second apart.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "monitor/alert_state.h"
#include "monitor/monitor.h"

namespace vramscope {

inline constexpr std::int64_t kSecond = 1'000'000'000;
inline constexpr std::int64_t kGiB = std::int64_t{1} << 30;
inline constexpr std::int64_t kRealStart = 1'700'000'000 * kSecond;

// A few GPUs of 40 GiB and what they show now. `watch` gets every second until a time.
class AlertBench {
 public:
  explicit AlertBench(const std::vector<std::string>& rules, int gpus = 1) {
    std::vector<AlertRule> parsed;
    for (const std::string& text : rules) parsed.push_back(*parse_alert_rule(text));
    watch_.emplace(std::move(parsed), "host");
    for (int i = 0; i < gpus; ++i) {
      DeviceSample device;
      device.index = i;
      device.values.set_text(Metric::uuid, "GPU-" + std::to_string(i));
      device.values.set_text(Metric::name, "Test GPU");
      device.values.set(Metric::memory_total, 40 * kGiB);
      device.values.set(Metric::memory_used, 0);
      device.processes_state = ValueState::known;
      devices.push_back(std::move(device));
    }
    // Metrics that are not given are not supported, as a backend tells it.
    for (DeviceSample& device : devices) {
      for (const MetricInfo& info : metric_table()) {
        if (device.values[info.id].state == ValueState::not_asked) {
          device.values.set_missing(info.id, ValueState::not_supported);
        }
      }
    }
  }

  void set(Metric metric, std::int64_t number, std::size_t gpu = 0) { devices[gpu].values.set(metric, number); }
  void used(std::int64_t bytes, std::size_t gpu = 0) { set(Metric::memory_used, bytes, gpu); }
  void hold(std::int64_t pid, std::int64_t bytes, std::string name = "python3", std::size_t gpu = 0) {
    DeviceProcess process;
    process.pid = pid;
    process.used_bytes = bytes;
    devices[gpu].processes.push_back(process);
    names[pid] = std::move(name);
  }
  void drop(std::int64_t pid, std::size_t gpu = 0) {
    auto& list = devices[gpu].processes;
    std::erase_if(list, [&](const DeviceProcess& process) { return process.pid == pid; });
  }

  std::vector<AlertEvent> second() {
    LiveSample sample;
    sample.time_ns = now_s * kSecond;
    sample.real_time_ns = kRealStart + sample.time_ns;
    sample.device_list = &devices;
    for (const DeviceSample& device : devices) {
      for (const DeviceProcess& process : device.processes) {
        if (sample.find(process.pid) != nullptr) continue;
        HostProcess host;
        host.pid = static_cast<std::int32_t>(process.pid);
        host.presence = Presence::seen;
        host.process.key = {host.pid, 7};
        host.process.name = names[process.pid].substr(0, 15);
        host.process.command = names[process.pid];
        host.process.user = "ann";
        const auto place = std::lower_bound(sample.processes.begin(), sample.processes.end(), host.pid,
                                            [](const HostProcess& a, std::int32_t pid) { return a.pid < pid; });
        sample.processes.insert(place, std::move(host));
      }
    }
    monitor_.add(sample);
    AlertNews news = watch_->add(sample, monitor_);
    obstacles.insert(obstacles.end(), news.obstacles.begin(), news.obstacles.end());
    ++now_s;
    return std::move(news.events);
  }
  std::vector<AlertEvent> seconds(std::int64_t count) {
    std::vector<AlertEvent> all;
    for (std::int64_t i = 0; i < count; ++i) {
      for (AlertEvent& event : second()) all.push_back(std::move(event));
    }
    return all;
  }
  const AlertReport& report(std::size_t rule = 0) const { return watch_->report(rule); }

  std::vector<DeviceSample> devices;
  std::map<std::int64_t, std::string> names;
  std::vector<std::size_t> obstacles;
  std::int64_t now_s = 0;  // of the next sample

 private:
  std::optional<AlertWatch> watch_;
  Monitor monitor_;
};

}  // namespace vramscope
