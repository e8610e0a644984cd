#pragma once
// The facts of one source that rules rest on, each computed when it is first asked for, and once.
// Not thread-safe. The source must outlive it.
#include <optional>
#include <vector>

#include "analysis/copies.h"
#include "analysis/gradients.h"
#include "analysis/graphs.h"
#include "analysis/growth.h"
#include "analysis/loader.h"
#include "analysis/memory_pairs.h"
#include "analysis/step_ranges.h"
#include "model/source.h"

namespace vramscope {

class Facts {
 public:
  explicit Facts(const Source& source) : source_(source) {}

  const Source& source() const { return source_; }
  const Trace& trace() const { return source_.trace; }
  const StepRanges& steps();
  const MemoryPairs& pairs();
  const std::vector<DeviceGrowth>& growth();
  const Graphs& graphs();
  // Memory of each of graphs().passes until the end of the last step.
  const std::vector<PassMemory>& pass_memory();
  const GradientUse& gradients();
  const LoaderUse& loader();
  const CopyUse& copies();

 private:
  const Source& source_;
  std::optional<StepRanges> steps_;
  std::optional<MemoryPairs> pairs_;
  std::optional<std::vector<DeviceGrowth>> growth_;
  std::optional<Graphs> graphs_;
  std::optional<std::vector<PassMemory>> pass_memory_;
  std::optional<GradientUse> gradients_;
  std::optional<LoaderUse> loader_;
  std::optional<CopyUse> copies_;
};

}  // namespace vramscope
