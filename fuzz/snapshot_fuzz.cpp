// Any bytes as a CUDA memory snapshot: alone, and beside itself as a later one.
#include <cstddef>
#include <cstdint>

#include "look.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  vramscope::look("cuda_snapshot", data, size, size % 3 == 0 ? 2 : 1);
  return 0;
}
