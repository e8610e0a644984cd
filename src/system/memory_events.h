#pragma once
// Host memory, the memory limit of a process's cgroup, and how often the kernel killed for the want of memory.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "system/cgroup.h"
#include "system/mounts.h"
#include "system/roots.h"

namespace vramscope {

// Where the memory of a process is counted. Stays good after the process has ended, as long as the folders are there:
// look it up while the process lives.
struct MemoryCgroup {
  int version = 0;                   // 1 or 2
  std::vector<std::string> folders;  // the process's own first, then those above it up to the mount
};

// One folder. Version 1 counts kills of the cgroup alone, version 2 of all below it too.
struct CgroupMemoryLevel {
  std::string folder;
  std::optional<std::int64_t> limit_bytes;  // empty: none, or unknown
  std::optional<std::int64_t> current_bytes;
  std::optional<std::int64_t> peak_bytes;
  std::optional<std::int64_t> oom_kills;     // processes killed
  std::optional<std::int64_t> limit_misses;  // times that the limit was hit and nothing could be freed
};

struct CgroupMemory {
  int version = 0;
  std::vector<CgroupMemoryLevel> levels;    // as MemoryCgroup::folders, without those that cannot be read
  std::optional<std::int64_t> limit_bytes;  // the smallest of all levels
  std::optional<std::int64_t> oom_kills;    // of the innermost level that tells
};

// Nothing when the process is gone, its cgroup lies outside of what is mounted here, or memory is not counted.
std::optional<MemoryCgroup> find_memory_cgroup(const Roots& roots, std::int32_t pid);
// The same over what the files say; `folders` are made of the mount points, with roots.sys for "/sys".
std::optional<MemoryCgroup> find_memory_cgroup(const Roots& roots, const std::vector<CgroupLine>& lines,
                                               const std::vector<Mount>& mounts);

// Nothing when no level can be read.
std::optional<CgroupMemory> read_cgroup_memory(const MemoryCgroup& cgroup);

struct HostMemory {
  std::optional<std::int64_t> total_bytes;
  std::optional<std::int64_t> available_bytes;
  std::optional<std::int64_t> free_bytes;
  std::optional<std::int64_t> swap_total_bytes;
  std::optional<std::int64_t> swap_free_bytes;
  std::optional<std::int64_t> oom_kills;  // since boot, in all cgroups
};
HostMemory read_host_memory(const Roots& roots = {});

}  // namespace vramscope
