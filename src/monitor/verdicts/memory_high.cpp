// Memory above 90 %: one more batch, or a longer one, may not fit.
#include "analysis/device_limits.h"
#include "text/catalogue.h"
#include "verdict_table.h"

namespace vramscope {

namespace {

void judge_device(const VerdictInput& input, const DeviceSample& device, std::vector<Verdict>& verdicts) {
  const auto share = used_share(device);
  if (device.is_lost || !share || *share <= kFullShare || has_mig_devices(input.sample, device)) return;
  Verdict verdict = about_device(input.sample, device, "memory-high", Severity::warning);
  Finding& finding = verdict.finding;
  const std::int64_t used = *device.number(Metric::memory_used);
  const std::int64_t usable = *usable_bytes(device);
  finding.arguments.emplace_back("share", share_value(*share));
  finding.arguments.emplace_back("free", bytes_value(usable > used ? usable - used : 0));
  finding.title = N_("GPU {gpu}: {share} of the memory that can be used is in use");
  finding.summary = N_("{free} are left. What needs more than that at once fails.");
  finding.fix = N_(
      "If a run there fails or is to grow: make its batches smaller, or end what is not needed. Servers that take most "
      "of the memory at start (vLLM, JAX) look like this when they are well.");
  finding.evidence.push_back({N_("memory used"), bytes_value(used), {}});
  finding.evidence.push_back({N_("memory that can be used"), bytes_value(usable), {}});
  add_largest_holders(input.sample, device, verdict);
  verdicts.push_back(std::move(verdict));
}

void judge_all(const VerdictInput& input, std::vector<Verdict>& verdicts) {
  for (const DeviceSample& device : input.sample.devices()) judge_device(input, device, verdicts);
}

}  // namespace

VerdictRule verdict_memory_high() {
  return {"memory-high", N_("memory in use above 90 %"), judge_all};
}

}  // namespace vramscope
