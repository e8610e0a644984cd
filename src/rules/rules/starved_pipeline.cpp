// Utilisation that swings between work and nothing while memory stays as it is: the GPU is fed too slowly
// (docs/rules/starved-pipeline.md).
#include <algorithm>
#include <cmath>

#include "analysis/device_limits.h"
#include "analysis/log_reading.h"
#include "analysis/memory_sums.h"
#include "base/saturate.h"
#include "rule_table.h"
#include "rules/arguments.h"
#include "rules/device_cases.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr std::int64_t kSlowestRhythmNs = 5'000'000'000;  // slower samples do not see the swings
constexpr double kActive = 5;                             // percent
constexpr std::int64_t kFewestFalls = 2;                  // in a window
constexpr double kLeastPart = 0.1;                        // of a window, at work and at rest each
constexpr double kSteady = 0.02;                          // of the memory
constexpr std::int64_t kLeastHeld = std::int64_t{1} << 30;
constexpr std::size_t kFewestWindows = 4;

struct Swings {
  std::size_t active = 0, swinging = 0, first = 0, last = 0;
  std::int64_t weight = 0, low = 0, falls = 0;
  double busy = 0;
  std::int64_t held = 0;
};

bool swings(const DeviceWindow& window, std::int64_t usable) {
  if (!window.least_used || *window.least_used < kLeastHeld) return false;
  const double span = static_cast<double>(subtract_bytes(*window.most_used, *window.least_used));
  return window.falls >= kFewestFalls && span <= kSteady * static_cast<double>(usable) &&
         share_of_weight(window.low, window.weight) >= kLeastPart &&
         share_of_weight(window.high, window.weight) >= kLeastPart;
}

Swings measure(const std::vector<DeviceWindow>& windows, std::int64_t usable) {
  Swings found;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const DeviceWindow& window = windows[i];
    if (window.weight <= 0 || window.mean_busy < kActive) continue;
    ++found.active;
    if (!swings(window, usable)) continue;
    if (found.swinging++ == 0) found.first = i;
    found.last = i;
    found.weight = saturating_add(found.weight, window.weight);
    found.low = saturating_add(found.low, window.low);
    found.falls += window.falls;
    found.busy += window.mean_busy * static_cast<double>(window.weight);
    found.held = std::max(found.held, *window.most_used);
  }
  return found;
}

DeviceCase case_of(Facts& facts, std::size_t place, const Swings& found) {
  const double idle = share_of_weight(found.low, found.weight);
  const bool is_server = serves_models(facts.device_log(), place);
  const auto busy = std::llround(found.busy / static_cast<double>(found.weight));
  DeviceCase one;
  one.device = place;
  one.severity = is_server ? Severity::info : Severity::warning;
  one.confidence = 0.8 * confidence_from(static_cast<std::int64_t>(found.swinging) / 2) *
                   share_of_weight(static_cast<std::int64_t>(found.swinging), static_cast<std::int64_t>(found.active));
  one.badness = idle;
  one.title = N_("GPU {gpu} waits for work again and again");
  one.summary =
      is_server ? N_("The utilisation swings while the memory stays as it is: {busy} % on average, and for {idle} of "
                     "the time next to nothing. A server of models runs there, which works when requests come.")
                : N_("The utilisation swings while the memory stays as it is: {busy} % on average, and for {idle} of "
                     "the time next to nothing. A training run that does so is fed too slowly: by its data loader, "
                     "the disk, the network, or the CPU. A program that works only when asked looks the same.");
  one.fix =
      N_("Raise the data loader's num_workers and prefetch_factor, set pin_memory=True, and decode less on the CPU; "
         "`vramscope diagnose TRACE` on a profiler trace of a few steps names what it waits for.");
  one.arguments = {{"busy", count_value(busy)}, {"idle", share_value(idle)}};
  const DeviceWindows& windows = facts.device_windows();
  one.seen = {windows.first[found.first], windows.first[found.last + 1] - 1};
  one.evidence.push_back({N_("mean utilisation, percent"), count_value(busy), {}});
  one.evidence.push_back({N_("share of the time at 20 % or below"), share_value(idle), {}});
  one.evidence.push_back({N_("falls from work to rest"), count_value(found.falls), {}});
  one.evidence.push_back({N_("memory used"), bytes_value(found.held), {}});
  one.evidence.push_back(looked_for(facts.log_weights(), found.weight));
  return one;
}

void check(Facts& facts, Verdicts& verdicts) {
  const DeviceLog& log = facts.device_log();
  const LogWeights& weights = facts.log_weights();
  std::vector<DeviceCase> cases;
  bool is_told = false;
  for (std::size_t place = 0; place < log.devices.size(); ++place) {
    const auto usable = usable_bytes(log.devices[place]);
    if (!usable || !known_range(log.devices[place], Metric::utilization_gpu)) continue;
    is_told = true;
    const Swings found = measure(facts.device_windows().devices[place], *usable);
    const bool is_most = found.swinging * 2 >= found.active;
    if (found.swinging < kFewestWindows || !is_most || only_draws(log, place)) continue;
    cases.push_back(case_of(facts, place, found));
  }
  if (!is_told) {
    return skip(verdicts, N_("The log does not tell utilisation, memory in use and its size together."));
  }
  if (weights.has_time && weights.usual_ns > kSlowestRhythmNs) {
    return skip(verdicts, N_("The samples are {time} apart; swings are seen in samples {needed} apart or closer."),
                {{"time", time_value(weights.usual_ns)}, {"needed", time_value(kSlowestRhythmNs)}});
  }
  if (facts.device_windows().weight.size() < kFewestWindows) return skip_too_short(facts, verdicts);
  report_cases(log, std::move(cases), verdicts);
}

}  // namespace

Rule rule_starved_pipeline() {
  return {"starved-pipeline", N_("a GPU that waits for work again and again"), check, Input::device_samples};
}

}  // namespace vramscope
