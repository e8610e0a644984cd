#include "report/device_name.h"

#include <set>
#include <utility>

#include "fmt/format.h"
#include "text/catalogue.h"
#include "text/utf8.h"

namespace vramscope {

std::string memory_device_title(const Trace& trace, std::uint32_t memory_device) {
  const std::string name = trace.memory_devices[memory_device].name();
  const std::string_view process = trace.process_sharing(memory_device);
  if (process.empty()) return name;
  return fmt::format(fmt::runtime(tr("{device} (process {process})")), fmt::arg("device", name),
                     fmt::arg("process", printable(process)));
}

std::size_t count_memory_devices(const Trace& trace) {
  std::set<std::pair<std::int32_t, std::int32_t>> devices;
  for (const MemoryDevice& device : trace.memory_devices) devices.emplace(device.type, device.index);
  return devices.size();
}

}  // namespace vramscope
