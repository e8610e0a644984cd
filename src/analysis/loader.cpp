#include "analysis/loader.h"

#include <algorithm>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "analysis/memory_sums.h"

namespace vramscope {

namespace {

constexpr std::string_view kLoader = "enumerate(DataLoader)#";

double share(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

// The call that finds the epoch at its end returns at once and loads nothing: it is no batch.
std::int64_t calls_with_a_batch(const std::vector<TimeRange>& calls) {
  if (calls.empty()) return 0;
  std::vector<std::int64_t> durations;
  for (const TimeRange& call : calls) durations.push_back(length_ns(call.begin_ns, call.end_ns));
  const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
  std::nth_element(durations.begin(), middle, durations.end());
  const std::int64_t least = *middle / 20;
  return std::count_if(durations.begin(), durations.end(), [&](std::int64_t duration) { return duration >= least; });
}

// Loader calls on the steps' own thread; one inside another counts once.
std::vector<TimeRange> loader_calls(const Trace& trace, const StepRanges& steps, LoaderUse& use) {
  std::vector<TimeRange> calls;
  std::int64_t longest = -1;
  for (SpanIndex i = 0; i < trace.spans.size(); ++i) {
    const SpanKind kind = trace.kind(i);
    if (kind != SpanKind::annotation && kind != SpanKind::cpu_op) continue;
    if (trace.name(i).substr(0, kLoader.size()) != kLoader) continue;
    ++use.calls_anywhere;
    if (trace.spans.track[i] != steps.track || steps.index_at(trace.spans.start_ns[i]) == kNone) continue;
    calls.push_back({trace.spans.start_ns[i], trace.end_ns(i)});
    use.has_workers = use.has_workers || trace.name(i).find("MultiProcessing") != std::string_view::npos;
    if (trace.spans.duration_ns[i] <= longest) continue;
    longest = trace.spans.duration_ns[i];
    use.longest = i;
  }
  use.batches = calls_with_a_batch(calls);
  return united(std::move(calls));
}

// Time of the work that was launched in the steps, also where it ran after the end of the last one.
std::int64_t busy_for_steps(const Trace& trace, const StepRanges& steps) {
  absl::flat_hash_map<std::int64_t, std::int64_t> launches;
  for (SpanIndex i = 0; i < trace.spans.size(); ++i) {
    const SpanKind kind = trace.kind(i);
    const bool is_api = kind == SpanKind::runtime_api || kind == SpanKind::driver_api;
    if (is_api && trace.spans.id[i] != kUnknown) launches.try_emplace(trace.spans.id[i], trace.spans.start_ns[i]);
  }
  std::vector<TimeRange> work;
  for (SpanIndex i = 0; i < trace.spans.size(); ++i) {
    if (!is_device_work(trace.kind(i))) continue;
    const auto launch = launches.find(trace.spans.id[i]);
    const std::int64_t asked = launch == launches.end() ? trace.spans.start_ns[i] : launch->second;
    if (steps.index_at(asked) != kNone) work.push_back({trace.spans.start_ns[i], trace.end_ns(i)});
  }
  std::int64_t busy = 0;
  for (const TimeRange& range : united(std::move(work))) {
    busy = add_bytes(busy, length_ns(range.begin_ns, range.end_ns));
  }
  return busy;
}

}  // namespace

std::int64_t workers_that_hide(std::int64_t loader_ns, std::int64_t step_ns) {
  const std::int64_t rest = length_ns(loader_ns, step_ns);
  if (loader_ns <= 0 || rest <= 0) return 0;
  return (loader_ns - 1) / rest + 2;
}

LoaderUse loader_use(const Trace& trace, const StepRanges& steps, const std::vector<TimeRange>& device_busy) {
  LoaderUse use;
  const std::vector<TimeRange> calls = loader_calls(trace, steps, use);
  std::int64_t idle = 0;
  std::vector<double> shares;
  for (const StepRange& step : steps.ranges) {
    const std::int64_t length = length_ns(step.begin_ns, step.end_ns);
    const std::int64_t in_loader = covered_ns(calls, step.begin_ns, step.end_ns);
    use.step_ns = add_bytes(use.step_ns, length);
    use.loader_ns = add_bytes(use.loader_ns, in_loader);
    if (in_loader > 0) ++use.steps;
    shares.push_back(share(in_loader, length));
  }
  for (const TimeRange& call : calls) {
    for (std::uint32_t s = steps.index_at(call.begin_ns); s < steps.size(); ++s) {
      const std::int64_t begin = std::max(call.begin_ns, steps.ranges[s].begin_ns);
      const std::int64_t end = std::min(call.end_ns, steps.ranges[s].end_ns);
      if (begin >= end) break;
      idle = add_bytes(idle, length_ns(begin, end) - covered_ns(device_busy, begin, end));
    }
  }
  use.share = share(use.loader_ns, use.step_ns);
  use.median_share = median(std::move(shares));
  if (!device_busy.empty()) {
    use.busy_share = std::min(1.0, share(busy_for_steps(trace, steps), use.step_ns));
    use.idle_in_loader_share = share(idle, use.step_ns);
  }
  return use;
}

}  // namespace vramscope
