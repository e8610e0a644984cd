// Memory held by a process that does no work and will not do any by itself: a zombie, stopped, stuck in the kernel,
// left behind, or idle for long.
#include "text/catalogue.h"
#include "verdict_table.h"

namespace vramscope {

namespace {

constexpr std::int64_t kLongIdleNs = 600'000'000'000;
constexpr std::int64_t kWorthTelling = 64 << 20;  // less than a CUDA context holds

// What is wrong with it; false when nothing is.
bool explain(Finding& finding, const HostProcess& host, std::int64_t idle_ns, bool is_nvidia) {
  const char state = host.process.state.value_or('R');
  if (state == 'Z' || state == 'X') {
    finding.severity = Severity::error;
    finding.title = N_("GPU {gpu}: {used} are held by a dead process (zombie {pid})");
    finding.summary =
        N_("{process} of {user} has ended, but its parent has not collected it, or one of its threads is "
           "still stuck in the driver.");
    finding.fix =
        is_nvidia
            ? N_("End its parent, which then is collected together with it: `kill {parent}`; if the memory stays: "
                 "`sudo fuser -v /dev/nvidia*` shows who still holds the device.")
            : N_("End its parent, which then is collected together with it: `kill {parent}`; if the memory stays: "
                 "`sudo fuser -v /dev/dri/* /dev/kfd` shows who still holds the device.");
    return true;
  }
  if (state == 'T' || state == 't') {
    finding.severity = Severity::warning;
    finding.title = N_("GPU {gpu}: {used} are held by a stopped process ({pid})");
    finding.summary = N_("{process} of {user} is stopped (Ctrl-Z, SIGSTOP or a debugger) and keeps its memory.");
    finding.fix = N_("Let it go on with `kill -CONT {pid}`, or end it with `kill -KILL {pid}`.");
    return true;
  }
  if (state == 'D') {
    finding.severity = Severity::warning;
    finding.confidence = 0.6;  // a moment of it is normal
    finding.title = N_("GPU {gpu}: {used} are held by a process stuck in the kernel ({pid})");
    finding.summary =
        N_("{process} of {user} waits uninterruptibly, for a disk, a network file system or the driver. "
           "Signals reach it only when that ends.");
    finding.fix =
        is_nvidia
            ? N_("If it stays so: `sudo cat /proc/{pid}/stack` shows what it waits for, `sudo dmesg | grep -i xid` "
                 "whether the driver failed; then only a reset of the GPU or of the machine frees the memory.")
            : N_("If it stays so: `sudo cat /proc/{pid}/stack` shows what it waits for, `sudo dmesg | grep -i drm` "
                 "whether the driver failed; then only a reset of the GPU or of the machine frees the memory.");
    return true;
  }
  if (host.is_orphan.value_or(false)) {
    finding.severity = Severity::warning;
    finding.confidence = 0.7;
    finding.title = N_("GPU {gpu}: {used} are held by a process that was left behind ({pid})");
    finding.summary = N_("The program that started {process} of {user} has ended without it.");
    finding.fix = N_("If it is a worker of a run that is over: `kill {pid}`.");
    return true;
  }
  if (idle_ns >= kLongIdleNs) {
    finding.severity = Severity::warning;
    finding.confidence = 0.6;
    finding.title = N_("GPU {gpu}: {used} are held by a process that has been idle for {idle} ({pid})");
    finding.summary =
        N_("{process} of {user} holds memory and has not used the GPU since then: a notebook, a debugger, a "
           "server without requests, or a run that hangs.");
    finding.fix =
        N_("If it is not needed: `kill {pid}`. In a notebook restart the kernel. A run that hangs: "
           "`py-spy dump --pid {pid}` shows where.");
    return true;
  }
  return false;
}

void judge_all(const VerdictInput& input, std::vector<Verdict>& verdicts) {
  for (const DeviceSample& device : input.sample.devices()) {
    for (const DeviceProcess& process : device.processes) {
      const HostProcess* host = input.sample.find(process.pid);
      if (host == nullptr || host->presence != Presence::seen) continue;
      if (process.used_bytes && *process.used_bytes < kWorthTelling) continue;
      const HolderHistory* history = input.monitor.find_holder(host->process.key, device_key(input.sample, device));
      std::int64_t idle_ns = 0;
      if (history != nullptr && history->idle_since_ns) idle_ns = input.sample.time_ns - *history->idle_since_ns;
      Verdict verdict = about_process(input.sample, device, process, "held-memory", Severity::warning);
      Arguments& arguments = verdict.finding.arguments;
      arguments.emplace_back("idle", time_value(idle_ns));
      arguments.emplace_back("parent", text_value(host->process.ppid ? std::to_string(*host->process.ppid) : "PARENT"));
      if (!explain(verdict.finding, *host, idle_ns, is_nvidias(device))) continue;
      if (host->process.state) {
        verdict.finding.evidence.push_back(
            {N_("state in /proc"), text_value(std::string(1, *host->process.state)), {}});
      }
      verdicts.push_back(std::move(verdict));
    }
  }
}

}  // namespace

VerdictRule verdict_held_memory() {
  return {"held-memory", N_("memory held by processes that do no work"), judge_all};
}

}  // namespace vramscope
