#pragma once
#include <string>

#include "devices/backend.h"

namespace vramscope {

// As the driver tells it; where a backend tells none, as /proc does. "[Not Found]" and the like when the driver knows
// no such process: /proc might know another one, of another container, by the same number.
std::string smi_process_name(DeviceSource& source, const DeviceProcess& process);

}  // namespace vramscope
