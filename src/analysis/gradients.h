#pragma once
// How gradients are accumulated between optimizer steps, and whether anything clears them.
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/trace.h"

namespace vramscope {

// From the beginning of one optimizer step to the beginning of the next one that had a backward pass before it.
struct UpdateInterval {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t gradients = 0;  // AccumulateGrad calls that tell how they stored the gradient
  std::int64_t in_place = 0;   // of them, those that added to a gradient that was there
  std::int64_t clearing = 0;   // zero_grad marks, and zero_, fill_, _foreach_zero_ called on their own
};

struct GradientUse {
  std::int64_t optimizer_steps = 0;
  std::int64_t accumulate_calls = 0;      // AccumulateGrad in the whole recording
  std::vector<UpdateInterval> intervals;  // only those with gradients
  SpanIndex last_step = kNone;            // the last optimizer step
  // Size of the gradients added in place between the last two optimizer steps, from the recorded shapes and types;
  // none when they were not recorded.
  std::optional<std::int64_t> gradient_bytes;
};

GradientUse gradient_use(const Trace& trace);

// Bytes of the first tensor of an operator's recorded shapes and types ("[[32, 3], []]", "[\"float\", …]").
std::optional<std::int64_t> first_tensor_bytes(std::string_view shapes, std::string_view types);

}  // namespace vramscope
