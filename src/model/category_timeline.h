#pragma once
// Memory by category over time: the profiler's exported memory timeline (torch/profiler/_memory_profiler.py).
#include <cstdint>
#include <string>
#include <vector>

#include "base/column.h"

namespace vramscope {

struct CategoryTimeline {
  std::vector<std::string> categories;  // "parameter", "optimizer_state", …, "unknown": fixed words
  Column<std::int64_t> time_ns;         // ascending; before the recording: the first real time
  // bytes[c] is parallel to time_ns: bytes of category c after this moment.
  std::vector<Column<std::int64_t>> bytes;
  bool is_sample_numbers = false;  // time_ns holds numbers of samples: the source has no times
  bool is_relative = false;        // whether times count from the start of the recording instead of the epoch
};

}  // namespace vramscope
