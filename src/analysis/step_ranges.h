#pragma once
// The steps of a run as whole ranges of time, whoever marked them.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace vramscope {

enum class StepSource : std::uint8_t {
  none,
  profiler,   // ProfilerStep#N
  optimizer,  // from the end of one optimizer step to the end of the next, where the profiler marked none
};

struct StepRange {
  std::int64_t number = 0;  // N of ProfilerStep#N, or the count of the optimizer step, from 1
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

// Sorted, none overlaps the next, all of one thread.
struct StepRanges {
  StepSource source = StepSource::none;
  TrackId track = kNone;
  std::vector<StepRange> ranges;

  std::size_t size() const { return ranges.size(); }
  // The step that a time belongs to; the gap after a step counts to it. kNone before the first and after the last.
  std::uint32_t index_at(std::int64_t time_ns) const;
  std::int64_t total_ns() const;
  std::int64_t median_ns() const;
};

StepRanges step_ranges(const Trace& trace);

// "Optimizer.step#…" ranges that no other one encloses, in order of time. One call of several optimizers in a row
// stays several.
std::vector<SpanIndex> optimizer_steps(const Trace& trace);

}  // namespace vramscope
