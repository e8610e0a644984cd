#pragma once
// Memory that keeps growing in a log of devices, judged by the same GrowthWatch as live.
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/growth_watch.h"
#include "model/device_log.h"

namespace vramscope {

struct LogGrowth {
  std::size_t device = 0;                     // its place in the log
  std::optional<std::uint32_t> process;       // in DeviceLog::processes; empty: the memory of the device itself
  Growth growth;                              // growing
  std::uint32_t first = 0, last = 0;          // moments: where it began, where it was seen last
  bool is_last = false;                       // it went on until the end of the log
  bool has_filled = false;                    // the device was nearly full then
  std::optional<std::int64_t> until_full_ns;  // from the end of the log; empty when it ended before, or is not known
};

struct LogGrowths {
  std::vector<LogGrowth> found;  // by device
  bool tells_memory = false;     // of any device or process
  std::int64_t span_ns = 0;      // from the first moment to the last; 0 without a clock
};

// Judged where the log has a clock. Of a device whose processes are told with their memory the processes are judged,
// for more processes are no leak; else the device.
LogGrowths log_growth(const DeviceLog& log);

}  // namespace vramscope
