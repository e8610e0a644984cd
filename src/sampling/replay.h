#pragma once
// A recording, or a log of devices, played back as devices and processes.
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "recording/reader.h"
#include "sampling/sampler.h"

namespace vramscope {

// Of `options` the file, the speed and who is told of trouble. The file is known by its content. A recording is read
// once before it is played, so that its damage is known from the first sample on. An Error when it holds no samples of
// devices.
Result<std::unique_ptr<Sampler>> open_replay(const SamplerOptions& options);

// The same of an opened recording with the trouble that is known of it; null when it holds no samples of devices.
std::unique_ptr<Sampler> play_back(std::unique_ptr<recording::Reader> reader, double speed,
                                   std::vector<Trouble> trouble = {});

}  // namespace vramscope
