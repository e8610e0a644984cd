#pragma once
// From what is known of a program's end to the one reason for it.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/end_reason.h"
#include "monitor/monitor.h"
#include "monitor/output_scan.h"
#include "system/kernel_log.h"
#include "system/memory_events.h"
#include "system/relayed_child.h"

namespace vramscope {

// A memory cgroup of the program's processes, when the first of them was seen in it and at the end.
struct WatchedCgroup {
  MemoryCgroup cgroup;
  CgroupMemory before, after;
};

// A device that its processes used.
struct UsedDevice {
  int index = 0;
  std::string uuid;
  std::string pci;                              // "00000000:3B:00.0", as the driver names it; empty: unknown
  std::optional<std::int64_t> xid_before, xid;  // the last one that the driver told
};

struct EndFacts {
  ProcessEnd end;  // pid 0: not known
  std::string program;
  bool is_child = true;                       // else nobody tells us its exit code
  std::optional<int> asked_to_end;            // the signal
  std::map<std::int32_t, std::string> names;  // of its processes, itself included, by pid; some names may be empty
  const OutputScan* output = nullptr;
  std::int64_t end_ns = 0;       // on the clock of the scan
  std::int64_t end_real_ns = 0;  // unix
  std::vector<WatchedCgroup> cgroups;
  HostMemory host_before, host_after;
  std::vector<KernelEvent> kernel;  // since it was started
  bool is_kernel_log_readable = false;
  bool are_pids_the_kernels = true;  // false in a pid namespace: the kernel's log names other numbers
  bool is_played_back = false;       // the devices are not those of this machine
  std::vector<ProcessEnd> deaths;    // of processes that it left behind
  std::vector<UsedDevice> devices;
  const Monitor* monitor = nullptr;
};

// In the order of certainty: its own words and the kernel's go before what follows from a curve, and a number alone
// comes last. Pure.
EndReason explain_end(const EndFacts& facts);

}  // namespace vramscope
