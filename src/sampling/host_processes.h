#pragma once
// Joins the processes that devices name with what the host says of them.
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sampling/live_sample.h"
#include "system/process_table.h"

namespace vramscope {

// Of this machine. For one thread at a time.
class HostProcesses {
 public:
  // `rest_ns`: a process that has been looked at is not looked at again before.
  explicit HostProcesses(Roots roots, std::int64_t rest_ns = 0);
  // Of many processes not all are looked at every time: what is told of one may be as old as five samples of 160
  // processes. New ones are looked at at once.
  static constexpr std::size_t kMostAsked = 32;

  // Fills `sample.processes` from the pids of its devices; what was there from the call before is used again.
  void join(LiveSample& sample);

 private:
  struct Kin {
    std::int64_t start_ticks = 0;
    std::optional<std::int32_t> ppid;
    std::optional<std::string> parent_name;
    std::optional<bool> is_orphan;
  };
  std::size_t count_due(std::int64_t now_ns);
  void take_pids(LiveSample& sample);
  void choose_asked(const LiveSample& sample);
  void add_kin(HostProcess& entry);

  Roots roots_;
  std::int64_t rest_ns_;
  std::optional<std::int64_t> chosen_ns_;  // when processes were chosen last
  ProcessTable table_;
  std::unordered_map<std::int32_t, Kin> kin_;
  std::vector<std::int32_t> pids_;   // of the sample at hand
  std::vector<std::int32_t> asked_;  // those that /proc is asked for
  std::vector<HostProcess> before_;  // the sample before
  std::size_t next_asked_ = 0;
};

// Of a simulation: from DeviceProcess::host. Its processes began at time 0 or at their start_ns.
void join_simulated(LiveSample& sample);

}  // namespace vramscope
