#include "system/roots.h"

#include <cstdlib>

namespace vramscope {

Roots roots_from_environment() {
  Roots roots;
  const auto set = [](std::string& root, const char* name) {
    const char* const asked = std::getenv(name);
    if (asked != nullptr && *asked != '\0') root = asked;
  };
  set(roots.proc, "VRAMSCOPE_PROC");
  set(roots.sys, "VRAMSCOPE_SYS");
  return roots;
}

}  // namespace vramscope
