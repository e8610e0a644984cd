#pragma once
// Gathers, while processes run, what their end can be judged by afterwards: it is gone from /proc and from the driver's
// lists by then.
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "monitor/end_reason.h"
#include "monitor/memory_counts.h"
#include "system/roots.h"

namespace vramscope {

// Kernel messages since it was made, where its log may be read. For one thread at a time.
class KernelNews {
 public:
  explicit KernelNews(const Roots& roots = {}, const std::string& path = "/dev/kmsg");
  // Takes in what came since. Cheap without news.
  void update();
  const std::deque<KernelEvent>& events() const { return events_; }
  bool is_readable() const { return log_.has_value(); }
  // False in a pid namespace of our own: the log names other numbers than we see.
  bool are_pids_the_kernels() const { return are_pids_the_kernels_; }

 private:
  static constexpr std::size_t kMostEvents = 1000;  // the latest are kept
  std::optional<KernelLog> log_;
  std::deque<KernelEvent> events_;
  bool are_pids_the_kernels_;
};

enum class Watched : std::uint8_t {
  child,        // a program that we started, with all that it starts
  program,      // one that somebody else started
  one_process,  // one of many: of the devices only those that it is on now are remembered
};

// For one thread at a time.
class EndWatch {
 public:
  // What was counted at most this long before the end is "before": ranks may wait for each other for a quarter of an
  // hour until the first death ends the last of them.
  static constexpr std::int64_t kLookBackNs = 20LL * 60 * 1'000'000'000;

  // `pid` 0: not started yet; its processes come with see(). `program`: its name for people.
  // `counts`: who else asks the kernel in the same look, and begins the looks; without it, all is read when it is due.
  EndWatch(Roots roots, std::string program, Watched watched, std::int64_t look_back_ns = kLookBackNs,
           std::shared_ptr<MemoryCounts> counts = nullptr);

  const std::string& program() const { return program_; }
  // The processes that live now, and the devices as they are; `sample` may be null. `now_ns` never falls.
  void see(const std::set<std::int64_t>& pids, const LiveSample* sample, std::int64_t now_ns);

  // Kills of the whole machine before the last moments. Without a rise since then no cgroup is blamed either: its own
  // counter may have risen long ago.
  void count_from(const HostMemory& host);

  struct End {
    ProcessEnd end;
    std::optional<int> asked_to_end;
    std::vector<ProcessEnd> deaths;
    const OutputScan* output = nullptr;
    std::int64_t time_ns = 0;  // on the clock of the scan
    std::int64_t real_time_ns = 0;
  };
  // Reads the counters once more.
  EndReason explain(const End& end, const Monitor& monitor, const KernelNews& kernel) const;

 private:
  static constexpr std::size_t kMostCgroups = 16;

  // Counters of two moments, at least the look-back apart once it has run that long.
  struct Counted {
    std::shared_ptr<const CountedCgroup> before, later;  // never null
  };
  MemoryCounts& counts() const;
  void see_process(std::int32_t pid, std::int64_t now_ns);
  void see_devices(const LiveSample& sample);
  void count_anew(std::int64_t now_ns);

  Roots roots_;
  std::string program_;
  Watched watched_;
  std::int64_t look_back_ns_;
  bool is_counting_alone_;
  std::shared_ptr<MemoryCounts> counts_;
  std::optional<std::int64_t> counted_ns_;
  bool is_played_back_ = false;
  bool is_gated_ = false;  // see count_from()
  struct Seen {
    std::string name;
    std::int64_t last_ns = 0;
  };
  std::map<std::int32_t, Seen> seen_;
  std::vector<Counted> cgroups_;
  HostMemory host_before_, host_later_;
  std::map<std::string, UsedDevice> seen_devices_;  // by UUID
  std::set<std::string> used_;                      // those that its processes were seen on
};

}  // namespace vramscope
