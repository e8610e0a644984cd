#pragma once
// Where the kernel's file systems are mounted. Tests, and a monitor that looks at a host from inside a container, name
// other folders.
#include <string>

namespace vramscope {

struct Roots {
  std::string proc = "/proc";
  std::string sys = "/sys";
};

// $VRAMSCOPE_PROC and $VRAMSCOPE_SYS in place of /proc and /sys where they are set.
Roots roots_from_environment();

}  // namespace vramscope
