#pragma once
// A recording played back as devices and processes.
#include <memory>
#include <string>

#include "base/result.h"
#include "recording/reader.h"
#include "sampling/sampler.h"

namespace vramscope {

// `speed` as in SamplerOptions. An Error when the file is no recording, or holds no samples of devices.
Result<std::unique_ptr<Sampler>> open_replay(const std::string& path, double speed);

// The same of an opened recording; null when it holds no samples of devices.
std::unique_ptr<Sampler> play_back(std::unique_ptr<recording::Reader> reader, double speed);

}  // namespace vramscope
