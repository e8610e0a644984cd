// Memory in use that no visible process accounts for.
#include "analysis/device_limits.h"
#include "text/catalogue.h"
#include "verdict_table.h"

namespace vramscope {

namespace {

void judge_device(const VerdictInput& input, const DeviceSample& device, std::vector<Verdict>& verdicts) {
  const auto used = device.number(Metric::memory_used);
  const auto total = device.number(Metric::memory_total);
  if (device.is_lost || device.parent || !used || !total || device.processes_state != ValueState::known) return;
  std::int64_t held = 0;
  std::int64_t unknown = 0;
  std::int64_t foreign = 0;
  for (const DeviceProcess& process : device.processes) {
    if (process.used_bytes) {
      held += *process.used_bytes;
    } else {
      ++unknown;
    }
    const HostProcess* host = input.sample.find(process.pid);
    if (host != nullptr && host->presence == Presence::absent) ++foreign;
  }
  const std::int64_t missing = *used - held;
  if (missing <= driver_bytes(*total)) return;
  Verdict verdict = about_device(input.sample, device, "unaccounted-memory", Severity::warning);
  Finding& finding = verdict.finding;
  finding.confidence = 0.7;
  finding.arguments.emplace_back("missing", bytes_value(missing));
  finding.arguments.emplace_back("unknown", count_value(unknown));
  finding.title = N_("GPU {gpu}: {missing} are in use that no process accounts for");
  const char* free_it =
      N_("`sudo fuser -v /dev/nvidia*` on the host lists who has the device open; a container sees its own processes "
         "alone. If nobody has it open, `sudo nvidia-smi --gpu-reset -i {gpu}` gives the memory back.");
  if (!is_nvidias(device)) {
    free_it =
        N_("`sudo fuser -v /dev/dri/* /dev/kfd` on the host lists who has the device open; a container sees its own "
           "processes alone. If nobody has it open, loading the driver anew or a restart gives the memory back.");
  }
  if (device.unreadable_processes > 0) {
    finding.severity = Severity::info;
    finding.arguments.emplace_back("unreadable", count_value(device.unreadable_processes));
    finding.summary = N_("Processes of other users ({unreadable}) are not for you to see, so this may well be theirs.");
    finding.fix = N_("Look as root, or with CAP_SYS_PTRACE.");
  } else if (unknown > 0) {
    // Windows, WSL, and processes of others: the driver does not tell.
    finding.severity = Severity::info;
    finding.summary = N_("The driver does not tell how much its processes hold, so this may well be theirs.");
    finding.fix = N_("Look as root, outside of a container, or on Linux.");
  } else {
    finding.summary = N_(
        "The driver itself takes some hundred MiB. The rest is likely held by processes that cannot be seen from here: "
        "of other containers, or of a virtual machine; by a context whose process died; or by memory shared between "
        "processes (IPC, MPS).");
    finding.fix = free_it;
  }
  finding.evidence.push_back({N_("memory used"), bytes_value(*used), {}});
  finding.evidence.push_back({N_("held by processes that are told"),
                              bytes_value(held),
                              {NN_("{count} process", "{count} processes"),
                               {{"count", count_value(static_cast<std::int64_t>(device.processes.size()))}}}});
  if (foreign > 0) finding.evidence.push_back({N_("processes that are not in /proc here"), count_value(foreign), {}});
  verdicts.push_back(std::move(verdict));
}

void judge_all(const VerdictInput& input, std::vector<Verdict>& verdicts) {
  for (const DeviceSample& device : input.sample.devices()) judge_device(input, device, verdicts);
}

}  // namespace

VerdictRule verdict_unaccounted_memory() {
  return {"unaccounted-memory", N_("memory that no process accounts for"), judge_all};
}

}  // namespace vramscope
