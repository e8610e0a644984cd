#pragma once
// How long the training thread waits for its data loader.
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/ranges.h"
#include "analysis/step_ranges.h"
#include "model/trace.h"

namespace vramscope {

struct LoaderUse {
  std::int64_t calls_anywhere = 0;  // loader calls in the recording, whatever the thread and time
  std::int64_t steps = 0;           // steps with a loader call on their thread
  std::int64_t batches = 0;         // loader calls inside steps that brought one
  std::int64_t step_ns = 0;         // all steps
  std::int64_t loader_ns = 0;       // inside them, in the loader
  double share = 0;                 // loader_ns of step_ns
  double median_share = 0;          // of the single steps
  bool has_workers = false;         // batches come from worker processes
  SpanIndex longest = kNone;        // the longest loader call
  // Where devices did work: the time of the work that the steps launched as a share of step_ns, and the part of step_ns
  // in which the thread was in the loader and no device worked.
  std::optional<double> busy_share;
  std::optional<double> idle_in_loader_share;
};

LoaderUse loader_use(const Trace& trace, const StepRanges& steps, const std::vector<TimeRange>& device_busy);

// Worker processes that prepare batches as fast as the rest of a step uses them, one to spare; 0 when the loader
// takes no time or there is nothing else in the step.
std::int64_t workers_that_hide(std::int64_t loader_ns, std::int64_t step_ns);

}  // namespace vramscope
