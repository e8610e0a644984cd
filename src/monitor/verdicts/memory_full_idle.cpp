// Memory full while the GPU does little: for 30 s of looking, or, seen once, as a hint.
#include <cmath>

#include "analysis/device_limits.h"
#include "text/catalogue.h"
#include "verdict_table.h"

namespace vramscope {

namespace {

void explain(Finding& finding, bool is_sure) {
  finding.title = N_("GPU {gpu}: the memory is full and the GPU does little");
  finding.summary =
      is_sure
          ? N_("{share} of the memory is held while the GPU is {busy} % busy on average. Usually the program waits for "
               "something else: data, the CPU, another rank, or requests.")
          : N_("{share} of the memory is held while the GPU is {busy} % busy at this moment.");
  if (is_sure) {
    finding.fix =
        N_("In a training run look at the data loader first (num_workers, pin_memory, decoding on the CPU); "
           "`vramscope diagnose TRACE` on a profiler trace names what it waits for. A server without requests is fine; "
           "a notebook that is no longer used can be ended.");
  } else {
    finding.fix = N_("`vramscope status --look 30s` tells whether it stays so.");
  }
}

// Runs that starve work in spikes, so the mean decides and not the highest.
void judge_device(const VerdictInput& input, const DeviceSample& device, std::vector<Verdict>& verdicts) {
  const auto share = used_share(device);
  const auto busy_now = device.number(Metric::utilization_gpu);
  if (device.is_lost || !share || *share <= kFullShare || !busy_now) return;
  const DeviceHistory* history = history_of(input, device);
  if (history == nullptr) return;
  const auto busy = history->utilisation.window();
  if (!busy || busy->mean >= kIdlePercent) return;
  const bool is_long = busy->is_whole;
  if (!is_long && *busy_now >= kIdlePercent) return;
  // It must have been full all the while.
  const auto used = history->memory_used.range_since(busy->since_ns);
  if (!used || static_cast<double>(used->first) <= kFullShare * static_cast<double>(*usable_bytes(device))) return;
  Verdict verdict =
      about_device(input.sample, device, "memory-full-idle", is_long ? Severity::warning : Severity::info);
  Finding& finding = verdict.finding;
  finding.arguments.emplace_back("share", share_value(*share));
  finding.arguments.emplace_back("busy", count_value(is_long ? std::llround(busy->mean) : *busy_now));
  explain(finding, is_long);
  finding.confidence = is_long ? 0.8 : 0.3;
  finding.evidence.push_back({N_("memory used"), bytes_value(*device.number(Metric::memory_used)), {}});
  if (is_long) {
    finding.evidence.push_back({N_("mean utilisation, percent"), count_value(std::llround(busy->mean)), {}});
  }
  finding.evidence.push_back({N_("highest utilisation, percent"), count_value(busy->highest), {}});
  if (is_long) {
    finding.evidence.push_back({N_("looked for"), time_value(input.sample.time_ns - busy->since_ns), {}});
  }
  add_largest_holders(input.sample, device, verdict);
  verdicts.push_back(std::move(verdict));
}

void judge_all(const VerdictInput& input, std::vector<Verdict>& verdicts) {
  for (const DeviceSample& device : input.sample.devices()) judge_device(input, device, verdicts);
}

}  // namespace

VerdictRule verdict_memory_full_idle() {
  return {"memory-full-idle", N_("memory full while the GPU does little"), judge_all};
}

}  // namespace vramscope
