#include "report/blind_spots.h"

#include <algorithm>

namespace vramscope {

namespace {

bool is_blind(ValueState state) {
  return state == ValueState::no_permission || state == ValueState::failed;
}

bool tells(const DeviceSample& device) {
  if (device.is_lost || device.processes_state == ValueState::known) return true;
  if (!device.text(Metric::power_state).empty()) return true;
  for (const Metric metric :
       {Metric::memory_used, Metric::utilization_gpu, Metric::temperature_gpu, Metric::power_draw}) {
    if (device.values.is_known(metric)) return true;
  }
  return false;
}

}  // namespace

std::vector<BlindSpot> blind_spots(const LiveSample& sample) {
  std::vector<BlindSpot> spots;
  for (const DeviceSample& device : sample.devices()) {
    if (device.parent || device.is_lost) continue;
    const MetricValue& memory = device.values[Metric::memory_used];
    if (is_blind(memory.state)) {
      spots.push_back({device.index, BlindSpot::What::memory, memory.state, memory.number});
    }
    if (is_blind(device.processes_state)) {
      spots.push_back({device.index, BlindSpot::What::processes, device.processes_state, 0});
    }
  }
  return spots;
}

bool tells_anything(const LiveSample& sample) {
  return std::any_of(sample.devices().begin(), sample.devices().end(), tells);
}

const char* blind_spot_name(BlindSpot::What what) {
  return what == BlindSpot::What::memory ? "memory" : "processes";
}

const char* blind_spot_reason(ValueState why) {
  return why == ValueState::no_permission ? "no_permission" : "failed";
}

}  // namespace vramscope
