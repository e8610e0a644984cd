#pragma once
// What a process uses a GPU for, as nvidia-smi writes it.
#include <string_view>

#include "model/device_log.h"

namespace vramscope::nvidia_smi {

// "C", "G", "C+G", "M+C" (a client of the Multi-Process Service).
inline LogProcessType parse_process_type(std::string_view text) {
  const bool is_compute = text.find('C') != text.npos;
  const bool is_graphics = text.find('G') != text.npos;
  if (is_compute && is_graphics) return LogProcessType::both;
  if (is_compute) return LogProcessType::compute;
  return is_graphics ? LogProcessType::graphics : LogProcessType::unknown;
}

}  // namespace vramscope::nvidia_smi
