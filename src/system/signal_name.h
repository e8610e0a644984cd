#pragma once
#include <string>

namespace vramscope {

// "SIGKILL"; "signal 35" without a name.
std::string signal_name(int number);

}  // namespace vramscope
