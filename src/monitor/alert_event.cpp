#include "monitor/alert_event.h"

#include <algorithm>

namespace vramscope {

namespace {

// At most kMostCurvePoints, none of the extremes lost.
std::vector<TimedValue> thinned(std::vector<TimedValue> points) {
  if (points.size() <= kMostCurvePoints) return points;
  const std::size_t group = (2 * points.size() + kMostCurvePoints - 3) / (kMostCurvePoints - 2);
  std::vector<TimedValue> kept = {points.front()};
  const std::size_t last = points.size() - 1;
  for (std::size_t begin = 1; begin < last; begin += group) {
    const auto from = points.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto to = points.begin() + static_cast<std::ptrdiff_t>(std::min(begin + group, last));
    const auto [low, high] =
        std::minmax_element(from, to, [](const TimedValue& a, const TimedValue& b) { return a.value < b.value; });
    kept.push_back(low <= high ? *low : *high);
    if (low != high) kept.push_back(low <= high ? *high : *low);
  }
  kept.push_back(points.back());
  return kept;
}

bool is_on(const DeviceSample& device, const DeviceProcess& process) {
  return !device.parent || process.gpu_instance == device.gpu_instance;
}

}  // namespace

AlertProcess alert_process(const LiveSample& sample, const DeviceProcess& process) {
  AlertProcess made;
  made.pid = process.pid;
  made.used_bytes = process.used_bytes;
  const HostProcess* host = sample.find(process.pid);
  if (host == nullptr || host->presence != Presence::seen) return made;
  made.name = host->process.name;
  if (host->process.user) made.user = *host->process.user;
  if (host->process.command) made.command = *host->process.command;
  return made;
}

AlertSubject alert_subject(const std::string& host, const LiveSample& sample, std::size_t place,
                           const DeviceProcess* process) {
  const DeviceSample& device = sample.devices()[place];
  AlertSubject subject;
  subject.host = host;
  subject.gpu = device.index;
  if (device.parent) {
    subject.gpu = sample.devices()[static_cast<std::size_t>(*device.parent)].index;
    subject.mig = device.index;
  }
  subject.gpu_uuid = std::string(device.text(Metric::uuid));
  subject.gpu_name = std::string(device.text(Metric::name));
  if (process != nullptr) subject.process = alert_process(sample, *process);
  return subject;
}

void add_device_facts(AlertEvent& event, const LiveSample& sample, std::size_t place) {
  const DeviceSample& device = sample.devices()[place];
  event.memory_used_bytes = device.number(Metric::memory_used);
  event.memory_total_bytes = device.number(Metric::memory_total);
  const DeviceSample& gpu = device.parent ? sample.devices()[static_cast<std::size_t>(*device.parent)] : device;
  std::vector<const DeviceProcess*> holders;
  for (const DeviceProcess& process : gpu.processes) {
    if (process.used_bytes && is_on(device, process)) holders.push_back(&process);
  }
  const std::size_t count = std::min(holders.size(), kMostHolders);
  std::partial_sort(holders.begin(), holders.begin() + static_cast<std::ptrdiff_t>(count), holders.end(),
                    [](const DeviceProcess* a, const DeviceProcess* b) {
                      return *a->used_bytes != *b->used_bytes ? *a->used_bytes > *b->used_bytes : a->pid < b->pid;
                    });
  for (std::size_t i = 0; i < count; ++i) event.holders.push_back(alert_process(sample, *holders[i]));
}

void add_curve(AlertEvent& event, const SeriesHistory& values, AlertUnit unit, std::int64_t since_ns,
               const LiveSample& sample) {
  event.curve_unit = unit;
  const std::int64_t from_ns = std::min(since_ns, sample.time_ns - kShortestCurveNs);
  for (const TimedValue& point : thinned(values.points_since(from_ns))) {
    event.curve.push_back({sample.real_time_ns - (sample.time_ns - point.time_ns), point.value});
  }
}

}  // namespace vramscope
