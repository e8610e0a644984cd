#pragma once
// How busy the devices of a source were.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/source.h"

namespace vramscope {

struct DeviceLoad {
  std::int32_t id = -1;  // -1: the file does not tell
  std::string name;      // from deviceProperties; empty when it does not list this device
  std::int64_t kernels = 0;
  std::int64_t kernel_ns = 0;  // sum over kernels; may exceed busy_ns when streams overlap
  std::int64_t memcpy_bytes = 0;
  std::int64_t busy_ns = 0;  // union of kernels, copies and sets
  std::int64_t span_ns = 0;  // from the first of them to the end of the last; 0 without any
  bool is_listed = false;    // in deviceProperties
};

// Every device that did work or that deviceProperties lists, by id.
std::vector<DeviceLoad> device_loads(const Source& source);

// Length of the union of the intervals [first, second); sorts them.
std::int64_t union_ns(std::vector<std::pair<std::int64_t, std::int64_t>>& intervals);

}  // namespace vramscope
