#pragma once
// How long each moment of a log of devices stands for. Moments of a log may come at any rhythm, so shares and means are
// of time where the log has a clock, else of moments.
#include <cstdint>
#include <vector>

#include "model/device_log.h"

namespace vramscope {

struct LogWeights {
  bool has_time = false;             // weights are nanoseconds; else every moment counts 1
  std::vector<std::int64_t> weight;  // of each moment: until the next; behind a gap, and of the last, the usual time
  std::int64_t seen = 0;             // their sum
  std::int64_t usual_ns = 0;         // median time between moments; 0 without a clock
  std::vector<bool> is_gap;          // of each moment: what follows is a gap of which nothing is known
};

// A log whose moments have all the same time has no clock here.
LogWeights log_weights(const DeviceLog& log);

}  // namespace vramscope
