// Memory that a program's caching allocator keeps and has not used for a while: no other program can have it. Only
// programs that tell of their allocator can be judged.
#include "text/catalogue.h"
#include "verdict_table.h"

namespace vramscope {

namespace {

constexpr std::int64_t kLongEnoughNs = 30'000'000'000;  // many steps of a training run, with their peaks
constexpr std::int64_t kParts = 4;                      // a quarter of what is reserved
constexpr double kShort = 0.9;                          // of the device: somebody may miss it

void judge_process(const VerdictInput& input, const DeviceSample& device, const DeviceProcess& process,
                   std::vector<Verdict>& verdicts) {
  const HostProcess* host = input.sample.find(process.pid);
  if (host == nullptr || !process.allocator_reserved_bytes) return;
  const HolderHistory* history = input.monitor.find_holder(host->process.key, device_key(input.sample, device));
  if (history == nullptr || !history->idle_cache_since_ns) return;
  const std::int64_t idle_ns = input.sample.time_ns - *history->idle_cache_since_ns;
  const std::int64_t idle_bytes = history->least_idle_cache_bytes;
  if (idle_ns < kLongEnoughNs || idle_bytes < *process.allocator_reserved_bytes / kParts) return;
  const auto share = used_share(device);
  const bool is_short = share && *share > kShort;
  Verdict verdict = about_process(input.sample, device, process, "idle-allocator-cache",
                                  is_short ? Severity::warning : Severity::info);
  Finding& finding = verdict.finding;
  finding.confidence = 0.8;
  finding.arguments.emplace_back("idle", bytes_value(idle_bytes));
  finding.arguments.emplace_back("time", time_value(idle_ns));
  finding.title = N_("GPU {gpu}: the allocator of process {pid} keeps {idle} that it does not use");
  finding.summary = is_short ? N_("{process} of {user} has reserved memory that no tensor has needed for {time}. The "
                                  "device is almost full, and no other program can have it.")
                             : N_("{process} of {user} has reserved memory that no tensor has needed for {time}. No "
                                  "other program can have it; nobody seems to miss it now.");
  finding.fix =
      N_("A peak reserved it: start-up, an evaluation, a long input. Where it comes once, `torch.cuda.empty_cache()` "
         "after it gives back what is wholly free, and more of it with "
         "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True. `torch.cuda.set_per_process_memory_fraction` bounds what "
         "the program may reserve.");
  finding.evidence.push_back({N_("reserved by the allocator"), bytes_value(*process.allocator_reserved_bytes), {}});
  if (process.allocator_allocated_bytes) {
    finding.evidence.push_back({N_("held by tensors"), bytes_value(*process.allocator_allocated_bytes), {}});
  }
  finding.evidence.push_back({N_("least that was not used"), bytes_value(idle_bytes), {}});
  finding.evidence.push_back({N_("looked for"), time_value(idle_ns), {}});
  verdicts.push_back(std::move(verdict));
}

void judge_all(const VerdictInput& input, std::vector<Verdict>& verdicts) {
  for (const DeviceSample& device : input.sample.devices()) {
    for (const DeviceProcess& process : device.processes) judge_process(input, device, process, verdicts);
  }
}

}  // namespace

VerdictRule verdict_idle_allocator_cache() {
  return {"idle-allocator-cache", N_("memory that an allocator keeps and does not use"), judge_all};
}

}  // namespace vramscope
