#include "sampling/live_sample.h"

#include <algorithm>

namespace vramscope {

std::string_view shown_name(const HostProcess& host) {
  if (host.presence == Presence::seen) {
    if (host.process.command && !host.process.command->empty()) return *host.process.command;
    if (!host.process.name.empty()) return host.process.name;
  }
  return host.driver_name;
}

const HostProcess* LiveSample::find(std::int64_t pid) const {
  const auto place =
      std::lower_bound(processes.begin(), processes.end(), pid,
                       [](const HostProcess& process, std::int64_t wanted) { return process.pid < wanted; });
  return place != processes.end() && place->pid == pid ? &*place : nullptr;
}

std::string device_key(const LiveSample& sample, const DeviceSample& device) {
  const std::string_view uuid = device.text(Metric::uuid);
  return uuid.empty() ? "device " + std::to_string(&device - sample.devices().data()) : std::string(uuid);
}

}  // namespace vramscope
