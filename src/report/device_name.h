#pragma once
// How reports name the devices of memory events.
#include <cstddef>
#include <cstdint>
#include <string>

#include "model/trace.h"

namespace vramscope {

// "cuda:0", for people; "cuda:0 (process 123)" where several processes have memory on that device.
std::string memory_device_title(const Trace& trace, std::uint32_t memory_device);

// How many devices have memory events, however many processes use each.
std::size_t count_memory_devices(const Trace& trace);

}  // namespace vramscope
