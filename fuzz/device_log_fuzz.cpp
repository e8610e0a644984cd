// Any bytes as each of nvidia-smi's layouts.
#include <cstddef>
#include <cstdint>

#include "look.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const char* reader : {"nvidia_smi_csv", "nvidia_smi_xml", "nvidia_smi_q", "nvidia_smi_table",
                             "nvidia_smi_monitor", "nvidia_smi_bundle"}) {
    vramscope::look(reader, data, size);
  }
  return 0;
}
