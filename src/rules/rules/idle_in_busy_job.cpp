// A GPU of a job that does nothing while the others work (docs/rules/idle-in-busy-job.md).
#include <algorithm>
#include <cmath>

#include "analysis/device_limits.h"
#include "analysis/log_reading.h"
#include "base/saturate.h"
#include "rule_table.h"
#include "rules/arguments.h"
#include "rules/device_cases.h"
#include "rules/device_comparison.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr double kIdle = 5;          // percent
constexpr double kMostlyIdle = 0.8;  // of the time in which another one works
constexpr std::size_t kFewestWindows = 2;
constexpr std::int64_t kLeastHeld = std::int64_t{1} << 30;  // less is a context that a program opened in passing

// Windows in which another GPU of the job works.
struct Idleness {
  std::size_t windows = 0, idle = 0, first = 0, last = 0;
  std::int64_t weight = 0;
  double busy = 0, others = 0;  // sums of means
};

Idleness measure(const DeviceWindows& windows, const DeviceJob& job, std::size_t place) {
  Idleness found;
  for (std::size_t i = 0; i < windows.weight.size(); ++i) {
    const DeviceWindow& own = windows.devices[place][i];
    double busiest = 0;
    for (const std::size_t other : job.devices) {
      if (other != place && windows.devices[other][i].weight > 0) {
        busiest = std::max(busiest, windows.devices[other][i].mean_busy);
      }
    }
    if (own.weight <= 0 || busiest < kBusyPercent) continue;
    ++found.windows;
    found.weight = saturating_add(found.weight, own.weight);
    found.others += busiest;
    found.busy += own.mean_busy;
    if (own.mean_busy >= kIdle) continue;
    if (found.idle++ == 0) found.first = i;
    found.last = i;
  }
  return found;
}

const char* summary_of(JobSign sign) {
  switch (sign) {
    case JobSign::process:
      return N_(
          "Its process holds {held} there and works on other GPUs, up to {others} % of the time, while this one "
          "does nothing for {share} of that time.");
    case JobSign::name:
      return N_(
          "Processes of one name hold about the same memory on several GPUs. Another one is up to {others} % "
          "busy while this one, with {held} in use, does nothing for {share} of that time.");
    case JobSign::memory:
      break;
  }
  return N_(
      "About the same memory is in use on several GPUs. Another one is up to {others} % busy while this one, "
      "with {held} in use, does nothing for {share} of that time. The log lists no processes, so these may be "
      "different jobs.");
}

DeviceCase case_of(Facts& facts, const DeviceJob& job, std::size_t place, const Idleness& found, std::int64_t held) {
  const double share = share_of_weight(static_cast<std::int64_t>(found.idle), static_cast<std::int64_t>(found.windows));
  const auto busy = std::llround(found.busy / static_cast<double>(found.windows));
  const auto others = std::llround(found.others / static_cast<double>(found.windows));
  DeviceCase one;
  one.device = place;
  one.severity = job.sign == JobSign::memory ? Severity::info : Severity::warning;
  one.confidence = confidence_of_job(job.sign) * confidence_from(static_cast<std::int64_t>(found.idle));
  one.badness = share;
  one.title = N_("GPU {gpu} does nothing while others of its job work");
  one.summary = summary_of(job.sign);
  one.fix =
      N_("Look whether the program uses every GPU it was given: one process or rank for each, batches that are "
         "divided among all, and no rank that waits or has failed. If it needs fewer, set CUDA_VISIBLE_DEVICES so "
         "that others can have the rest.");
  one.arguments = {{"held", bytes_value(held)}, {"others", count_value(others)}, {"share", share_value(share)}};
  const DeviceWindows& windows = facts.device_windows();
  one.seen = {windows.first[found.first], windows.first[found.last + 1] - 1};
  one.evidence.push_back({N_("mean utilisation, percent"), count_value(busy), {}});
  one.evidence.push_back({N_("mean utilisation of the busiest other GPU, percent"), count_value(others), {}});
  one.evidence.push_back({N_("memory used"), bytes_value(held), {}});
  one.evidence.push_back(looked_for(facts.log_weights(), found.weight));
  return one;
}

void check(Facts& facts, Verdicts& verdicts) {
  if (skip_without_comparison(facts, verdicts)) return;
  const DeviceLog& log = facts.device_log();
  std::vector<DeviceCase> cases;
  for (const DeviceJob& job : facts.device_jobs().jobs) {
    for (const std::size_t place : job.devices) {
      const auto used = known_range(log.devices[place], Metric::memory_used);
      if (!used || used->most < kLeastHeld) continue;
      const Idleness found = measure(facts.device_windows(), job, place);
      const bool is_idle = static_cast<double>(found.idle) >= kMostlyIdle * static_cast<double>(found.windows);
      if (found.windows < kFewestWindows || !is_idle) continue;
      cases.push_back(case_of(facts, job, place, found, used->most));
    }
  }
  report_cases(log, std::move(cases), verdicts);
}

}  // namespace

Rule rule_idle_in_busy_job() {
  return {"idle-in-busy-job", N_("a GPU that does nothing while others of its job work"), check, Input::device_samples};
}

}  // namespace vramscope
