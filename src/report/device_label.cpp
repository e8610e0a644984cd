#include "fmt/format.h"
#include "report/status.h"

namespace vramscope {

std::string device_label(const LiveSample& sample, const DeviceSample& device) {
  if (!device.parent) return std::to_string(device.index);
  const DeviceSample& gpu = sample.devices()[static_cast<std::size_t>(*device.parent)];
  return fmt::format("{}.{}", gpu.index, device.index);
}

}  // namespace vramscope
