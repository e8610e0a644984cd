#pragma once
// /proc/self/mountinfo (proc(5)).
#include <string>
#include <string_view>
#include <vector>

#include "system/roots.h"

namespace vramscope {

struct Mount {
  std::string root;     // the folder of the file system that is seen at `point`
  std::string point;    // where, as the kernel names it
  std::string type;     // cgroup, cgroup2, overlay, …
  std::string options;  // of the file system; for cgroup its controllers
  bool has_option(std::string_view name) const;
};

// Lines that are cut or no such lines are left out. Escapes (\040) are undone.
std::vector<Mount> parse_mountinfo(std::string_view text);
std::vector<Mount> read_mounts(const Roots& roots);

}  // namespace vramscope
