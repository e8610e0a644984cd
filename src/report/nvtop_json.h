#pragma once
// A sample in the form of `nvtop --snapshot`, for scripts that read that: an array with an object for each GPU, a
// member a line, values as text with their unit, null for unknown. Members and spellings as nvtop 3.3 writes them.
#include <string>

#include "sampling/live_sample.h"

namespace vramscope {

struct NvtopOptions {
  bool fahrenheit = false;
  bool with_processes = true;
};

// docs/schemas/top.schema.json
std::string nvtop_json(const LiveSample& sample, const NvtopOptions& options);

}  // namespace vramscope
