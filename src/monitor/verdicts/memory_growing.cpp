// Memory that keeps growing, and when the device will be full.
#include "text/catalogue.h"
#include "verdict_table.h"

namespace vramscope {

namespace {

// The process on the device that grows most; null when none does.
const HolderHistory* grower(const Monitor& monitor, std::string_view uuid) {
  const HolderHistory* found = nullptr;
  for (const HolderHistory& holder : monitor.holders()) {
    if (holder.device_uuid != uuid || holder.gone_since_ns) continue;
    if (holder.growth.growth().state != GrowthState::growing) continue;
    if (found == nullptr || holder.growth.growth().bytes_per_hour > found->growth.growth().bytes_per_hour)
      found = &holder;
  }
  return found;
}

Verdict base_verdict(const VerdictInput& input, const DeviceSample& device, const HolderHistory* holder,
                     Severity severity) {
  if (holder != nullptr) {
    for (const DeviceProcess& process : device.processes) {
      if (process.pid == holder->key.pid) {
        return about_process(input.sample, device, process, "memory-growing", severity);
      }
    }
  }
  return about_device(input.sample, device, "memory-growing", severity);
}

void judge_device(const VerdictInput& input, const DeviceSample& device, std::vector<Verdict>& verdicts) {
  const DeviceHistory* history = history_of(input, device);
  if (history == nullptr || device.is_lost) return;
  const HolderHistory* holder = grower(input.monitor, history->uuid);
  const bool device_grows = history->growth.growth().state == GrowthState::growing;
  if (!device_grows && holder == nullptr) return;
  const Growth& growth = holder != nullptr ? holder->growth.growth() : history->growth.growth();
  const auto until_full = input.monitor.time_until_full_ns(*history);
  const bool is_soon = until_full && *until_full <= kSoonFullNs;
  const Severity severity = is_soon                                  ? Severity::error
                            : until_full && *until_full > kFarAwayNs ? Severity::info
                                                                     : Severity::warning;
  Verdict verdict = base_verdict(input, device, holder, severity);
  Finding& finding = verdict.finding;
  finding.confidence = 0.8;
  finding.arguments.emplace_back("rate", bytes_per_hour(growth.bytes_per_hour));
  finding.arguments.emplace_back("grown", bytes_value(growth.grown_bytes));
  finding.arguments.emplace_back("since", time_value(growth.grown_ns));
  if (until_full) finding.arguments.emplace_back("left", time_value(*until_full));
  finding.title =
      until_full ? N_("GPU {gpu}: memory keeps growing and is full in {left}") : N_("GPU {gpu}: memory keeps growing");
  finding.summary = holder != nullptr
                        ? N_("{process} of {user} has grown by {grown} within {since} and does not fall back: {rate}.")
                        : N_("The memory in use has grown by {grown} within {since} and does not fall back: {rate}.");
  finding.fix =
      N_("Record its memory history (torch.cuda.memory._record_memory_history() at the start, "
         "torch.cuda.memory._dump_snapshot() after a while) and read it with `vramscope memory SNAPSHOT`: it "
         "names the line that allocates what stays.");
  finding.evidence.push_back({N_("growth"), bytes_per_hour(growth.bytes_per_hour), {}});
  if (until_full) finding.evidence.push_back({N_("time until the memory is full"), time_value(*until_full), {}});
  verdicts.push_back(std::move(verdict));
}

void judge_all(const VerdictInput& input, std::vector<Verdict>& verdicts) {
  for (const DeviceSample& device : input.sample.devices()) judge_device(input, device, verdicts);
}

}  // namespace

VerdictRule verdict_memory_growing() {
  return {"memory-growing", N_("memory that keeps growing"), judge_all};
}

}  // namespace vramscope
