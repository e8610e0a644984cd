#pragma once
// Devices that are opened by the first look, on the thread that looks: opening them can last for seconds, or for ever,
// and a program that is to be watched does not wait for that.
#include <functional>
#include <memory>

#include "sampling/sampler.h"

namespace vramscope {

// Not for what is played back. `on_failure` gets why no device could be opened, on the thread that looks; the samples
// have no devices then.
std::unique_ptr<Sampler> late_sampler(SamplerOptions options, std::function<void(const Error&)> on_failure);

}  // namespace vramscope
