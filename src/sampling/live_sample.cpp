#include "sampling/live_sample.h"

#include <algorithm>

namespace vramscope {

const HostProcess* LiveSample::find(std::int64_t pid) const {
  const auto place =
      std::lower_bound(processes.begin(), processes.end(), pid,
                       [](const HostProcess& process, std::int64_t wanted) { return process.pid < wanted; });
  return place != processes.end() && place->pid == pid ? &*place : nullptr;
}

}  // namespace vramscope
