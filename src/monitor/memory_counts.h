#pragma once
// What the kernel counts of memory, read once for all who ask within one look.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "system/memory_events.h"

namespace vramscope {

// The counters of a process's cgroup, with where they stand.
struct CountedCgroup {
  MemoryCgroup cgroup;
  CgroupMemory memory;
};

// For one thread at a time.
class MemoryCounts {
 public:
  explicit MemoryCounts(Roots roots = {}) : roots_(std::move(roots)) {}

  // From here on all is read anew.
  void begin_look();
  const HostMemory& host();
  // Null when the process is gone or nothing counts its memory. Processes of one cgroup share what is returned.
  std::shared_ptr<const CountedCgroup> of_process(std::int32_t pid);
  // Null when its folders are gone.
  std::shared_ptr<const CountedCgroup> again(const CountedCgroup& before);

 private:
  std::shared_ptr<const CountedCgroup> read(MemoryCgroup cgroup);

  Roots roots_;
  std::optional<HostMemory> host_;
  std::optional<std::vector<Mount>> mounts_;
  std::map<std::vector<std::string>, std::shared_ptr<const CountedCgroup>> cgroups_;  // by folders; null: unreadable
};

}  // namespace vramscope
