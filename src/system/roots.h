#pragma once
// Where the kernel's file systems are mounted. Tests, and a monitor that looks at a host from inside a container, name
// other folders.
#include <string>

namespace vramscope {

struct Roots {
  std::string proc = "/proc";
  std::string sys = "/sys";
};

}  // namespace vramscope
