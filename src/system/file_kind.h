#pragma once
// What kind of file a path that a person gave leads to.
#include <string>

namespace vramscope {

// A pipe, a socket or a device: to open or read it may wait for ever. False where there is nothing at all.
bool may_wait_for_ever(const std::string& path);

}  // namespace vramscope
