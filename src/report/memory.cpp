#include "report/memory.h"

#include <algorithm>

namespace vramscope {

SourceMemory measure_memory(const Source& source, const DeviceFilter& filter) {
  SourceMemory facts;
  facts.pairs = pair_memory(source.trace);
  facts.devices = device_memory(source.trace, facts.pairs);
  const auto is_unwanted = [&](const DeviceMemory& memory) {
    return !filter.wants_memory(source.trace.memory_devices[memory.device]);
  };
  facts.devices.erase(std::remove_if(facts.devices.begin(), facts.devices.end(), is_unwanted), facts.devices.end());
  return facts;
}

}  // namespace vramscope
