#include "analysis/step_ranges.h"

#include <algorithm>
#include <string_view>

#include "analysis/memory_sums.h"
#include "analysis/ranges.h"

namespace vramscope {

namespace {

bool is_optimizer_step(const Trace& trace, SpanIndex i) {
  const SpanKind kind = trace.kind(i);
  return (kind == SpanKind::annotation || kind == SpanKind::cpu_op) && trace.name(i).substr(0, 15) == "Optimizer.step#";
}

// Steps of the thread that has most of them; an overlapping one gives way to the one before.
StepRanges from_profiler(const Trace& trace) {
  std::vector<std::size_t> count(trace.tracks.size(), 0);
  for (const Step& step : trace.steps) {
    if (step.span != kNone) ++count[trace.spans.track[step.span]];
  }
  StepRanges steps;
  const auto most = std::max_element(count.begin(), count.end());
  if (most == count.end() || *most == 0) return steps;
  steps.source = StepSource::profiler;
  steps.track = static_cast<TrackId>(most - count.begin());
  for (const Step& step : trace.steps) {
    if (step.span == kNone || trace.spans.track[step.span] != steps.track || step.end_ns <= step.begin_ns) continue;
    if (!steps.ranges.empty() && step.begin_ns < steps.ranges.back().end_ns) continue;
    steps.ranges.push_back({step.number, step.begin_ns, step.end_ns});
  }
  return steps;
}

StepRanges from_optimizer(const Trace& trace) {
  StepRanges steps;
  const std::vector<SpanIndex> updates = optimizer_steps(trace);
  if (updates.size() < 2) return steps;
  steps.source = StepSource::optimizer;
  steps.track = trace.spans.track[updates.front()];
  std::int64_t number = 0;
  std::int64_t last_end = kUnknown;
  for (const SpanIndex update : updates) {
    if (trace.spans.track[update] != steps.track) continue;
    const std::int64_t end = trace.end_ns(update);
    if (last_end != kUnknown && end > last_end) steps.ranges.push_back({++number, last_end, end});
    last_end = end;
  }
  return steps;
}

}  // namespace

std::uint32_t StepRanges::index_at(std::int64_t time_ns) const {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), time_ns,
                                      [](std::int64_t time, const StepRange& step) { return time < step.begin_ns; });
  if (after == ranges.begin()) return kNone;
  if (after == ranges.end() && time_ns >= ranges.back().end_ns) return kNone;
  return static_cast<std::uint32_t>(after - ranges.begin()) - 1;
}

std::int64_t StepRanges::total_ns() const {
  std::int64_t total = 0;
  for (const StepRange& step : ranges) total = add_bytes(total, length_ns(step.begin_ns, step.end_ns));
  return total;
}

std::int64_t StepRanges::median_ns() const {
  std::vector<std::int64_t> lengths;
  for (const StepRange& step : ranges) lengths.push_back(length_ns(step.begin_ns, step.end_ns));
  return median(std::move(lengths));
}

std::vector<SpanIndex> optimizer_steps(const Trace& trace) {
  std::vector<SpanIndex> found;
  for (SpanIndex i = 0; i < trace.spans.size(); ++i) {
    if (is_optimizer_step(trace, i)) found.push_back(i);
  }
  std::erase_if(found, [&](SpanIndex i) {
    for (SpanIndex up = trace.spans.parent[i]; up != kNone; up = trace.spans.parent[up]) {
      if (is_optimizer_step(trace, up)) return true;
    }
    return false;
  });
  std::stable_sort(found.begin(), found.end(),
                   [&](SpanIndex a, SpanIndex b) { return trace.spans.start_ns[a] < trace.spans.start_ns[b]; });
  return found;
}

StepRanges step_ranges(const Trace& trace) {
  StepRanges steps = from_profiler(trace);
  return steps.ranges.empty() ? from_optimizer(trace) : steps;
}

}  // namespace vramscope
