#pragma once
// Memory in use that the processes in a log of devices do not account for.
#include <cstdint>
#include <vector>

#include "model/device_log.h"

namespace vramscope {

// Of one device, over the moments that tell its memory and list processes.
struct UnaccountedMemory {
  std::uint32_t listed = 0;   // such moments
  std::uint32_t untold = 0;   // of them: with a process whose memory is not told
  std::uint32_t missing = 0;  // of the others: with more missing than the driver takes (driver_bytes())
  // At the last moment of `missing`, in bytes.
  std::int64_t used = 0, held = 0;
  std::int64_t processes = 0;
  std::uint32_t first = 0, last = 0;  // moments of `missing`
  bool is_last = false;               // it was so at the last of all such moments
};

struct UnaccountedMemories {
  std::vector<UnaccountedMemory> devices;  // one for each of the log; nothing of MIG devices and GPUs that have some
  bool lists_any = false;                  // a process, at any moment, on any device
};

UnaccountedMemories unaccounted_memory(const DeviceLog& log);

}  // namespace vramscope
