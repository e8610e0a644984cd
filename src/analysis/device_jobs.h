#pragma once
// Which devices of a log work for one job: what they do is compared only then.
#include <cstdint>
#include <vector>

#include "model/device_log.h"

namespace vramscope {

enum class JobSign : std::uint8_t {
  process,  // one process holds memory on all of them, or they are linked by such processes
  name,     // processes of one name hold about the same memory on each
  memory    // the log lists no processes; about the same memory is in use on each
};

struct DeviceJob {
  std::vector<std::size_t> devices;  // places in the log, at least two
  JobSign sign = JobSign::memory;
};

struct DeviceJobs {
  std::vector<DeviceJob> jobs;
  std::size_t gpus = 0;              // that are no MIG devices
  bool is_of_many_machines = false;  // two devices have one number, or hosts differ: nothing is compared then
};

DeviceJobs device_jobs(const DeviceLog& log);

}  // namespace vramscope
