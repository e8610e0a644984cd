#pragma once
// The devices of several backends as one list.
#include <memory>
#include <vector>

#include "devices/backend.h"

namespace vramscope {

// At least one source. GPUs of each follow those of the one before and are numbered on.
std::unique_ptr<DeviceSource> join_sources(std::vector<std::unique_ptr<DeviceSource>> sources);

}  // namespace vramscope
