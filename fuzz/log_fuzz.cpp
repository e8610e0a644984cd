// Any bytes as a log and as a memory timeline.
#include <cstddef>
#include <cstdint>

#include "look.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  vramscope::look("memory_log", data, size);
  vramscope::look("memory_timeline", data, size);
  return 0;
}
