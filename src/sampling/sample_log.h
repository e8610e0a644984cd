#pragma once
// Gathers looks at devices into a log of devices, as if they had been written down and read again.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/device_log_builder.h"
#include "model/source.h"
#include "sampling/live_sample.h"

namespace vramscope {

// For one thread at a time.
class SampleLog {
 public:
  // Samples in the order of time. Processes are listed where every device tells all of its own.
  void add(const LiveSample& sample);
  bool empty() const { return builder_.empty(); }
  // Times are unix time, or, of a simulation, count from its start as a time of day. `path` names what was looked at.
  Source take(std::string path);

 private:
  std::uint32_t place_of(const LiveSample& sample, std::size_t at);
  std::uint32_t process_of(const LiveSample& sample, std::int64_t pid);
  void add_uses(const LiveSample& sample, std::size_t at);

  DeviceLogBuilder builder_;
  std::map<std::string, std::uint32_t> places_;                               // by device_key()
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> processes_;  // by pid and start
  bool is_played_back_ = false;
  std::int64_t first_ns_ = 0, last_ns_ = 0;
};

}  // namespace vramscope
