#pragma once
// Processes that used a device and are gone: why, where the kernel, the driver or the curve tell. Nobody but their
// parents is told how they ended.
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "monitor/end_watch.h"

namespace vramscope {

// For one thread at a time. A sample costs next to nothing while nobody comes or goes.
class GoneProcesses {
 public:
  explicit GoneProcesses(Roots roots = {});
  // Those that are gone since the sample before and for whose end something shows a reason. `monitor` has the sample.
  std::vector<EndReason> add(const LiveSample& sample, const Monitor& monitor);

 private:
  // Two files are read of each; so many a sample, so that a full machine costs no jump.
  static constexpr std::size_t kLookedUpASample = 16;
  static constexpr std::size_t kMostWatched = 4096;
  // Kills in the whole machine are counted so often; at an end, those since this time or twice as long ago are new.
  static constexpr std::int64_t kCountEveryNs = 10'000'000'000;

  bool is_alive(std::int64_t pid) const;
  void see_new(const LiveSample& sample);
  std::vector<EndReason> take_gone(const LiveSample& sample, const Monitor& monitor);

  Roots roots_;
  KernelNews kernel_;
  std::shared_ptr<MemoryCounts> counts_;
  std::map<std::int64_t, std::optional<EndWatch>> watched_;  // empty: not looked up yet
  std::deque<std::int64_t> waiting_;
  std::optional<std::int64_t> counted_ns_;
  HostMemory host_before_, host_later_;
};

}  // namespace vramscope
