#pragma once
// How sentences name a source.
#include <string>

namespace vramscope {

// The path, safe to print; "standard input" for "-". JSON has the path as it was given.
std::string shown_path(const std::string& path);

}  // namespace vramscope
