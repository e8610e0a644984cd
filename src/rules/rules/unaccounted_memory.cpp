// Memory in use that no listed process accounts for (docs/rules/unaccounted-memory.md).
#include <algorithm>

#include "analysis/memory_sums.h"
#include "rule_table.h"
#include "rules/arguments.h"
#include "rules/device_cases.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

// A list of compute processes alone (--query-compute-apps) leaves out what draws.
bool lists_compute_alone(const DeviceLog& log) {
  return std::all_of(log.parts.begin(), log.parts.end(), [](const std::string& part) { return part == "csv"; });
}

// Whether a process that draws is ever listed.
bool is_drawing(const DeviceLog& log, std::size_t place) {
  return std::any_of(log.uses.begin(), log.uses.end(), [&](const LogUse& use) {
    return use.device == place && (use.type == LogProcessType::graphics || use.type == LogProcessType::both);
  });
}

DeviceCase case_of(const DeviceLog& log, std::size_t place, const UnaccountedMemory& memory, bool lists_any) {
  const std::int64_t missing = subtract_bytes(memory.used, memory.held);
  DeviceCase one;
  one.device = place;
  const bool draws = is_drawing(log, place);
  one.severity = lists_any && !draws && is_nvidias(log, place) ? Severity::warning : Severity::info;
  one.confidence = memory.missing > 1 ? 0.7 : 0.5;
  one.badness = static_cast<double>(missing);
  one.title = N_("GPU {gpu}: {missing} are in use that no process accounts for");
  one.summary =
      draws ? N_("The GPU draws as well: buffers that a desktop's programs share are no process's own, and programs in "
                 "sandboxes are not always listed.")
      : lists_any
          ? N_("The driver itself takes some hundred MiB. The rest is likely held by processes that cannot be seen "
               "from "
               "here: of other containers, or of a virtual machine; by a context whose process died; or by memory "
               "shared between processes (IPC, MPS).")
          : N_("The log lists no process at all. Where it was taken in a container, that is what it looks like when "
               "programs run on the host or in other containers, or its own are not shown to it.");
  one.fix = is_nvidias(log, place)
                ? N_("`sudo fuser -v /dev/nvidia*` on the host lists who has the device open; a container sees its own "
                     "processes alone. If nobody has it open, `sudo nvidia-smi --gpu-reset -i {gpu}` gives the memory "
                     "back.")
                : N_("`sudo fuser -v /dev/dri/* /dev/kfd` on the host lists who has the device open; a container sees "
                     "its own processes alone. If nobody has it open, loading the driver anew or a restart gives the "
                     "memory back.");
  one.arguments = {{"missing", bytes_value(missing)}};
  one.seen = {memory.first, memory.last};
  one.evidence.push_back({N_("memory used"), bytes_value(memory.used), {}});
  one.evidence.push_back({N_("held by processes that are told"), bytes_value(memory.held), {}});
  one.evidence.push_back({N_("processes that are told"), count_value(memory.processes), {}});
  one.evidence.push_back({N_("samples looked at"), count_value(memory.listed), {}});
  return one;
}

void check(Facts& facts, Verdicts& verdicts) {
  const DeviceLog& log = facts.device_log();
  const UnaccountedMemories& all = facts.unaccounted_memory();
  std::vector<DeviceCase> cases;
  bool is_listed = false;
  bool is_told = false;
  for (std::size_t place = 0; place < log.devices.size(); ++place) {
    const UnaccountedMemory& memory = all.devices[place];
    is_listed = is_listed || memory.listed > 0;
    is_told = is_told || memory.listed > memory.untold;
    // A process that starts or ends between two readings leaves a moment like this.
    const bool is_lasting = memory.missing * 2 >= memory.listed - memory.untold;
    if (memory.missing == 0 || memory.untold > 0 || !memory.is_last || !is_lasting) continue;
    cases.push_back(case_of(log, place, memory, all.lists_any));
  }
  if (!is_listed || lists_compute_alone(log)) {
    return skip(verdicts, N_("The log does not list all processes together with the memory in use."));
  }
  if (!is_told) return skip(verdicts, N_("The log does not tell how much memory its processes hold."));
  report_cases(log, std::move(cases), verdicts);
}

}  // namespace

Rule rule_unaccounted_memory() {
  return {"unaccounted-memory", N_("memory that no process accounts for"), check, Input::device_samples};
}

}  // namespace vramscope
