#include "sampling/driver_names.h"

#include <iterator>

namespace vramscope {

void DriverNames::add_to(LiveSample& sample, DeviceSource& source) {
  ++round_;
  std::size_t asked = 0;
  for (HostProcess& process : sample.processes) {
    process.driver_name.clear();
    if (process.presence != Presence::absent && process.presence != Presence::unreadable) continue;
    auto known = names_.find(process.pid);
    if (known == names_.end()) {
      if (asked == kMostAsked) continue;
      ++asked;
      auto name = source.process_name(process.pid);
      known = names_.emplace(process.pid, Known{name ? std::move(*name) : std::string(), 0}).first;
    }
    known->second.round = round_;
    process.driver_name = known->second.name;
  }
  // A pid may come again as another process.
  if (names_.empty()) return;
  for (auto known = names_.begin(); known != names_.end();) {
    known = known->second.round == round_ ? std::next(known) : names_.erase(known);
  }
}

}  // namespace vramscope
