#pragma once
// A recording played back as devices and processes.
#include <memory>
#include <string>

#include "base/result.h"
#include "sampling/sampler.h"

namespace vramscope {

// `speed` as in SamplerOptions. An Error when the file is no recording, or holds no samples of devices.
Result<std::unique_ptr<Sampler>> open_replay(const std::string& path, double speed);

}  // namespace vramscope
