#pragma once
// A recording, or a log of devices, played back as devices and processes.
#include <memory>
#include <string>

#include "base/result.h"
#include "recording/reader.h"
#include "sampling/sampler.h"

namespace vramscope {

// `speed` as in SamplerOptions. The file is known by its content. An Error when it holds no samples of devices.
Result<std::unique_ptr<Sampler>> open_replay(const std::string& path, double speed);

// The same of an opened recording; null when it holds no samples of devices.
std::unique_ptr<Sampler> play_back(std::unique_ptr<recording::Reader> reader, double speed);

}  // namespace vramscope
