#include "rules/facts.h"

#include <cstdint>
#include <limits>

#include "analysis/ranges.h"

namespace vramscope {

const StepRanges& Facts::steps() {
  if (!steps_) steps_ = step_ranges(trace());
  return *steps_;
}

const MemoryPairs& Facts::pairs() {
  if (!pairs_) pairs_ = pair_memory(trace());
  return *pairs_;
}

const std::vector<DeviceGrowth>& Facts::growth() {
  if (!growth_) growth_ = memory_growth(trace(), pairs(), steps());
  return *growth_;
}

const Graphs& Facts::graphs() {
  if (!graphs_) graphs_ = autograd_graphs(trace(), steps());
  return *graphs_;
}

const std::vector<PassMemory>& Facts::pass_memory() {
  if (!pass_memory_) {
    const std::int64_t end =
        steps().ranges.empty() ? std::numeric_limits<std::int64_t>::max() : steps().ranges.back().end_ns;
    pass_memory_ = vramscope::pass_memory(trace(), pairs(), graphs(), end);
  }
  return *pass_memory_;
}

const GradientUse& Facts::gradients() {
  if (!gradients_) gradients_ = gradient_use(trace());
  return *gradients_;
}

const LoaderUse& Facts::loader() {
  if (!loader_) loader_ = loader_use(trace(), steps(), device_busy(trace(), true));
  return *loader_;
}

const CopyUse& Facts::copies() {
  if (!copies_) copies_ = copy_use(trace(), steps());
  return *copies_;
}

}  // namespace vramscope
