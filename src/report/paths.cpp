#include "report/paths.h"

#include "text/catalogue.h"
#include "text/utf8.h"

namespace vramscope {

std::string shown_path(const std::string& path) {
  return path == "-" ? tr("standard input") : printable(path);
}

}  // namespace vramscope
