#pragma once
// "In which step is it freed": what every profiler step allocates, frees and keeps, for each memory device.
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/device_filter.h"
#include "model/trace.h"

namespace vramscope {

struct StepDevice {
  std::uint32_t device = 0;  // index into Trace::memory_devices
  std::int64_t alloc_bytes = 0;
  std::int64_t free_bytes = 0;  // positive
  std::int64_t kept_bytes = 0;  // allocated less freed within the step
  std::int64_t peak_bytes = 0;  // highest level within the step above the level at its start; never negative
  std::optional<std::int64_t> peak_allocated_bytes;  // highest level itself, where the profiler wrote totals
};

struct StepUse {
  std::int64_t number = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::vector<StepDevice> devices;  // every wanted device of the trace: accelerators first, then the CPU
};

// One entry a step, in order of time. With a device chosen, that one alone.
std::vector<StepUse> memory_by_step(const Trace& trace, const DeviceFilter& filter);

}  // namespace vramscope
