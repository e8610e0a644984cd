#pragma once
// What is wrong with a device or a process now: a finding about it.
#include <cstdint>
#include <optional>
#include <string>

#include "model/finding.h"

namespace vramscope {

struct Verdict {
  Finding finding;         // `rule` is the verdict's id
  std::optional<int> gpu;  // index
  std::string gpu_uuid;    // also of a MIG device
  std::optional<std::int64_t> pid;
};

}  // namespace vramscope
