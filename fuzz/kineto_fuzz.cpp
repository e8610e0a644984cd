// Any bytes as a trace of the PyTorch Profiler.
#include <cstddef>
#include <cstdint>

#include "look.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  vramscope::look("kineto", data, size);
  return 0;
}
