#pragma once
// Processes, sample after sample, at the price of one pread each.
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "system/files.h"
#include "system/process.h"
#include "system/roots.h"

namespace vramscope {

struct ProcessSample {
  std::vector<const Process*> processes;  // in the order asked for, each once; valid until the next sample()
  std::vector<ProcessKey> ended;          // known before and no more, also when another process has the pid now
  std::vector<std::int32_t> absent;       // no such pid here: it ended, or lives in another pid namespace
  std::vector<std::int32_t> unreadable;   // there, but not for us to read (hidepid, no descriptors left)
};

// A quarter of RLIMIT_NOFILE, between 16 and 1024.
std::size_t process_descriptor_limit();

// Keeps /proc/PID/stat open between samples. User, command, cgroup and namespace are read when a process is first seen
// and when it runs another program. Without a descriptor to spare, a process is read by path: slower, never wrong.
// For one thread at a time.
class ProcessTable {
 public:
  explicit ProcessTable(Roots roots = {}, std::size_t max_descriptors = process_descriptor_limit());

  // `now_ns` is of any clock that does not jump; differences of it alone are used (cpu_percent).
  ProcessSample sample(std::span<const std::int32_t> pids, std::int64_t now_ns);

  std::size_t size() const { return entries_.size(); }
  std::size_t open_descriptors() const { return recent_.size(); }
  const Roots& roots() const { return roots_; }

 private:
  struct Entry {
    Process process;
    Descriptor stat;  // open: its pid stands in recent_
    std::list<std::int32_t>::iterator place_in_recent;
    std::optional<std::int64_t> stack_start;
    std::optional<std::int64_t> sampled_ns;
    std::uint64_t round = 0;         // of the last sample that asked for it
    bool are_facts_pending = false;  // to be read again
  };
  enum class Look { ok, ended, absent, unreadable };

  Look look(std::int32_t pid, std::int64_t now_ns, ProcessSample& sample);
  Look refresh(Entry& entry, std::int64_t now_ns);
  Look load(std::int32_t pid, std::int64_t now_ns, Entry& entry);
  void apply(const ProcessStat& stat, std::int64_t now_ns, Entry& entry);
  void read_facts(int folder, Entry& entry);
  void keep(Entry& entry, Descriptor stat);
  void release(Entry& entry);
  void forget_unasked();
  bool evict(bool also_of_this_round);
  Descriptor open(int folder, const char* path, int flags);
  std::optional<std::string> user_name(std::int64_t uid);

  Roots roots_;
  std::size_t max_descriptors_;
  std::int64_t page_bytes_;
  std::int64_t tick_ns_;
  std::optional<std::int64_t> boot_time_ns_;
  std::optional<std::int64_t> own_pid_namespace_;
  std::unordered_map<std::int32_t, Entry> entries_;
  std::list<std::int32_t> recent_;  // pids with an open descriptor, least recent first
  std::unordered_map<std::int64_t, std::optional<std::string>> users_;
  std::uint64_t round_ = 0;
};

}  // namespace vramscope
