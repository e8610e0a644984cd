#pragma once
// What the driver calls processes that the host does not show: in a container the driver sees more than /proc.
#include <cstdint>
#include <string>
#include <unordered_map>

#include "devices/backend.h"
#include "sampling/live_sample.h"

namespace vramscope {

// For one thread at a time.
class DriverNames {
 public:
  // Names are short calls, yet a full machine must not be asked for hundreds of them within one look.
  static constexpr std::size_t kMostAsked = 32;

  // Fills HostProcess::driver_name of those that are not seen. Each is asked for once, as long as it is there.
  void add_to(LiveSample& sample, DeviceSource& source);

 private:
  struct Known {
    std::string name;  // empty: the driver could not tell
    std::uint64_t round = 0;
  };
  std::unordered_map<std::int32_t, Known> names_;
  std::uint64_t round_ = 0;
};

}  // namespace vramscope
