#include "analysis/unaccounted_memory.h"

#include "analysis/device_limits.h"
#include "analysis/log_reading.h"
#include "analysis/memory_sums.h"

namespace vramscope {

namespace {

// What the processes of one device hold at one moment.
struct Held {
  std::int64_t bytes = 0;
  std::int64_t processes = 0;
  bool is_told = true;
};

std::vector<Held> held_at(const DeviceLog& log, std::uint32_t moment) {
  std::vector<Held> held(log.devices.size());
  for (std::uint32_t at = log.first_use[moment]; at < log.first_use[moment + 1]; ++at) {
    const LogUse& use = log.uses[at];
    Held& of = held[use.device];
    ++of.processes;
    if (use.used_bytes == kNoLogValue) {
      of.is_told = false;
    } else {
      of.bytes = add_bytes(of.bytes, use.used_bytes);
    }
  }
  return held;
}

void take(UnaccountedMemory& memory, const Held& held, std::int64_t used, std::int64_t total, std::uint32_t moment) {
  ++memory.listed;
  if (!held.is_told) ++memory.untold;
  const bool is_missing = held.is_told && subtract_bytes(used, held.bytes) > driver_bytes(total);
  memory.is_last = is_missing;
  if (!is_missing) return;
  if (memory.missing++ == 0) memory.first = moment;
  memory.last = moment;
  memory.used = used;
  memory.held = held.bytes;
  memory.processes = held.processes;
}

}  // namespace

UnaccountedMemories unaccounted_memory(const DeviceLog& log) {
  UnaccountedMemories all;
  all.lists_any = !log.uses.empty();
  all.devices.resize(log.devices.size());
  std::vector<MetricReading> used;
  for (const LogDevice& device : log.devices) used.emplace_back(device, Metric::memory_used);
  for (std::uint32_t moment = 0; moment < log.moments; ++moment) {
    if (log.tells_processes[moment] == 0) continue;
    const std::vector<Held> held = held_at(log, moment);
    for (std::size_t at = 0; at < log.devices.size(); ++at) {
      if (log.devices[at].parent || has_mig_devices(log, at)) continue;
      const auto bytes = used[at].at(moment);
      const auto total = last_known(log.devices[at], Metric::memory_total);
      if (bytes && total && *total > 0) take(all.devices[at], held[at], *bytes, *total, moment);
    }
  }
  return all;
}

}  // namespace vramscope
