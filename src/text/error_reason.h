#pragma once
// Errors of the system in the user's language.
#include <string>

namespace vramscope {

// What an errno means: "No such file or directory"; "error number 71" for a rare one.
std::string error_reason(int code);

}  // namespace vramscope
