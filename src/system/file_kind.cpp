#include "system/file_kind.h"

#include <sys/stat.h>

namespace vramscope {

bool may_wait_for_ever(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return false;
  return !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
}

}  // namespace vramscope
