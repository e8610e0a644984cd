#pragma once
// What is worth a line while one watches: what starts, ends or changes, and nothing while all stays as it is.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/change.h"
#include "monitor/monitor.h"
#include "monitor/verdict_changes.h"
#include "sampling/live_sample.h"

namespace vramscope {

// What was said last of a growth.
struct ToldGrowth {
  GrowthState state = GrowthState::none;
  double bytes_per_hour = 0;
};

// For one thread at a time.
class ChangeLog {
 public:
  // Without: all processes are told of. With: those alone, and what concerns the devices that they use.
  void follow(const std::set<std::int64_t>& pids) { followed_ = pids; }
  // After the monitor took the sample. What is there at the first one is told as a start.
  std::vector<Change> update(const LiveSample& sample, const Monitor& monitor);

 private:
  struct DeviceState {
    bool is_high = false;
    bool is_lost = false;
    bool is_hidden = false;
    bool is_known = false;
    ToldGrowth growth;
    bool is_growth_told = false;  // by a line about the device itself
    std::int64_t xid = 0;
  };
  struct HolderState {
    ToldGrowth growth;
    bool has_ended = false;
    std::string device_uuid;
  };

  bool is_followed(std::int64_t pid) const { return !followed_ || followed_->count(pid) != 0; }
  void add_processes(const LiveSample& sample, const Monitor& monitor, std::vector<Change>& changes);
  void add_holder(const LiveSample& sample, const Monitor& monitor, const HolderHistory& holder,
                  std::vector<Change>& changes);
  void add_device(const LiveSample& sample, const Monitor& monitor, std::size_t place, std::vector<Change>& changes);

  std::optional<std::set<std::int64_t>> followed_;
  VerdictChanges verdicts_;
  std::map<std::string, DeviceState> devices_;             // by UUID
  std::unordered_map<std::int64_t, HolderState> holders_;  // by HolderHistory::id
};

}  // namespace vramscope
