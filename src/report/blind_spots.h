#pragma once
// What a driver that is there does not let us see: a look that shows little must not pass for a healthy one.
#include <vector>

#include "model/metric.h"
#include "sampling/live_sample.h"

namespace vramscope {

struct BlindSpot {
  enum class What { memory, processes };
  int gpu = 0;
  What what = What::memory;
  ValueState why = ValueState::no_permission;  // or failed
  std::int64_t driver_code = 0;                // 0: none is known
};

// Of GPUs that answer. What a kind of device never tells (not_supported) is none.
std::vector<BlindSpot> blind_spots(const LiveSample& sample);
// False where not one GPU tells of memory, work, heat, power or processes: there is nothing to judge. A lost GPU and
// one that sleeps tell something.
bool tells_anything(const LiveSample& sample);
// "memory", "processes"; "no_permission", "failed": for JSON.
const char* blind_spot_name(BlindSpot::What what);
const char* blind_spot_reason(ValueState why);

}  // namespace vramscope
