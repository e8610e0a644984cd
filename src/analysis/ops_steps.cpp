#include "analysis/ops_steps.h"

#include "analysis/memory_curve.h"
#include "analysis/memory_sums.h"

namespace vramscope {

std::vector<StepUse> memory_by_step(const Trace& trace, const DeviceFilter& filter) {
  std::vector<StepUse> steps;
  for (const Step& step : trace.steps) steps.push_back({step.number, step.begin_ns, step.end_ns, {}});
  if (steps.empty()) return steps;
  for (const DeviceMemory& memory : device_memory(trace, pair_memory(trace))) {
    if (!filter.wants_memory(trace.memory_devices[memory.device])) continue;
    for (std::size_t i = 0; i < steps.size() && i < memory.steps.size(); ++i) {
      const StepMemory& of = memory.steps[i];
      StepDevice use;
      use.device = memory.device;
      use.alloc_bytes = of.alloc_bytes;
      use.free_bytes = of.free_bytes;
      use.kept_bytes = subtract_bytes(of.alloc_bytes, of.free_bytes);
      use.peak_bytes = subtract_bytes(of.peak_bytes, of.begin_bytes);
      if (memory.kind != CurveKind::relative) use.peak_allocated_bytes = of.peak_bytes;
      steps[i].devices.push_back(use);
    }
  }
  return steps;
}

}  // namespace vramscope
