// Memory full while the GPU does little, over the whole log (docs/rules/full-but-idle.md).
#include <cmath>

#include "analysis/device_limits.h"
#include "analysis/log_reading.h"
#include "base/saturate.h"
#include "rule_table.h"
#include "rules/arguments.h"
#include "rules/device_cases.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr std::size_t kFewestForWarning = 2;  // windows
constexpr double kShareForWarning = 0.25;     // of what is told

struct IdleFull {
  std::int64_t weight = 0, told = 0;
  double busy = 0;  // weighted sum
  std::int64_t most_busy = 0, least_used = INT64_MAX;
  std::size_t windows = 0, first = 0, last = 0;
};

IdleFull measure(const std::vector<DeviceWindow>& windows, std::int64_t usable) {
  IdleFull idle;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const DeviceWindow& window = windows[i];
    if (window.weight <= 0 || !window.least_used) continue;
    idle.told = saturating_add(idle.told, window.weight);
    const bool is_full = static_cast<double>(*window.least_used) > kFullShare * static_cast<double>(usable);
    if (!is_full || window.mean_busy >= kIdlePercent) continue;
    if (idle.windows++ == 0) idle.first = i;
    idle.last = i;
    idle.weight = saturating_add(idle.weight, window.weight);
    idle.busy += window.mean_busy * static_cast<double>(window.weight);
    idle.most_busy = std::max(idle.most_busy, window.most_busy);
    idle.least_used = std::min(idle.least_used, *window.least_used);
  }
  return idle;
}

DeviceCase case_of(Facts& facts, std::size_t place, const IdleFull& idle, std::int64_t usable) {
  const DeviceLog& log = facts.device_log();
  const double share = share_of_weight(idle.weight, idle.told);
  const bool is_server = serves_models(log, place);
  const auto busy = std::llround(idle.busy / static_cast<double>(idle.weight));
  DeviceCase one;
  one.device = place;
  const bool is_long = idle.windows >= kFewestForWarning && share >= kShareForWarning;
  one.severity = is_long && !is_server ? Severity::warning : Severity::info;
  one.confidence = 0.9 * confidence_from(static_cast<std::int64_t>(idle.windows) + 1);
  one.badness = share;
  one.title = N_("GPU {gpu}: the memory is full and the GPU does little");
  one.summary =
      is_server ? N_("For {share} of the time {held} of the memory or more is held while the GPU is {busy} % busy on "
                     "average. A server of models holds it, which waits for requests by design.")
                : N_("For {share} of the time {held} of the memory or more is held while the GPU is {busy} % busy on "
                     "average. Usually the program waits for something else: data, the CPU, another rank, or "
                     "requests.");
  one.fix =
      N_("In a training run look at the data loader first (num_workers, pin_memory, decoding on the CPU); "
         "`vramscope diagnose TRACE` on a profiler trace names what it waits for. A server without requests is fine; "
         "a notebook that is no longer used can be ended.");
  one.arguments = {{"share", share_value(share)},
                   {"held", share_value(share_of_weight(idle.least_used, usable))},
                   {"busy", count_value(busy)}};
  const DeviceWindows& windows = facts.device_windows();
  one.seen = {windows.first[idle.first], windows.first[idle.last + 1] - 1};
  one.evidence.push_back({N_("least memory used then"), bytes_value(idle.least_used), {}});
  one.evidence.push_back({N_("memory that can be used"), bytes_value(usable), {}});
  one.evidence.push_back({N_("mean utilisation, percent"), count_value(busy), {}});
  one.evidence.push_back({N_("highest utilisation, percent"), count_value(idle.most_busy), {}});
  one.evidence.push_back(looked_for(facts.log_weights(), idle.weight));
  return one;
}

void check(Facts& facts, Verdicts& verdicts) {
  const DeviceLog& log = facts.device_log();
  const DeviceWindows& windows = facts.device_windows();
  std::vector<DeviceCase> cases;
  bool is_told = false;
  bool is_told_long = false;
  for (std::size_t place = 0; place < log.devices.size(); ++place) {
    const LogDevice& device = log.devices[place];
    const auto usable = usable_bytes(device);
    if (!usable || !known_range(device, Metric::memory_used) || !known_range(device, Metric::utilization_gpu)) continue;
    is_told = true;
    const IdleFull idle = measure(windows.devices[place], *usable);
    is_told_long = is_told_long || idle.told > 0;
    if (idle.windows > 0) cases.push_back(case_of(facts, place, idle, *usable));
  }
  if (!is_told) {
    return skip(verdicts, N_("The log does not tell utilisation, memory in use and its size together."));
  }
  if (!is_told_long) return skip_too_short(facts, verdicts);
  report_cases(log, std::move(cases), verdicts);
}

}  // namespace

Rule rule_full_but_idle() {
  return {"full-but-idle", N_("memory that is full while the GPU does little"), check, Input::device_samples};
}

}  // namespace vramscope
