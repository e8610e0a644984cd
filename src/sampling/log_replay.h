#pragma once
// A log of devices (nvidia-smi's own, or an imitation) played back as devices and processes.
#include <memory>

#include "model/source.h"
#include "sampling/sampler.h"

namespace vramscope {

// What a moment of the log does not tell keeps its value from before. Processes are seen by pid and name alone. A log
// without times is played as if a second lay between its samples. `speed` as in SamplerOptions. Null when the source
// has no device_log with a device and a moment.
std::unique_ptr<Sampler> play_log(Source source, double speed);

}  // namespace vramscope
