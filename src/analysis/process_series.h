#pragma once
// Several snapshots of one process, in order of time.
#include <cstdint>
#include <vector>

#include "model/source.h"

namespace vramscope {

// What lives in the segments: active blocks as asked for; one whose request is unknown counts its rounded size.
std::int64_t live_bytes(const AllocatorDevice& device);

// Whether two snapshots of a device can be of one process: at least half of the segments in use in the earlier one are
// still where they were. Processes have address spaces of their own. False when nothing was in use.
bool is_same_process(const AllocatorDevice& earlier, const AllocatorDevice& later);

struct ProcessSeries {
  std::int32_t device = 0;
  bool is_by_time = false;  // by the last times in the logs; else in the order given
  std::vector<const Source*> sources;
  std::vector<const AllocatorDevice*> devices;  // parallel to sources
  std::vector<std::int64_t> live_bytes;
};

// Every device that at least two snapshots of one process hold.
std::vector<ProcessSeries> process_series(const Case& input);

}  // namespace vramscope
