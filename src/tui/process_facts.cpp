#include "tui/process_facts.h"

#include <algorithm>
#include <string_view>

#include "fmt/format.h"
#include "report/phrases.h"
#include "system/files.h"
#include "system/process.h"
#include "text/catalogue.h"
#include "text/utf8.h"

namespace vramscope::tui {

namespace {

constexpr std::size_t kMostEnvironment = 256 * 1024;
constexpr std::size_t kShortId = 12;  // as docker shows container ids

std::string place_of(const Placement& placement) {
  if (placement.slurm_job) return fmt::format("slurm {}", *placement.slurm_job);
  if (placement.pod_uid) return "pod " + printable(*placement.pod_uid).substr(0, 8);
  if (placement.container_id) {
    return printable(placement.container_runtime.value_or("container")) + " " +
           printable(*placement.container_id).substr(0, kShortId);
  }
  return placement.systemd_unit ? printable(*placement.systemd_unit) : std::string();
}

std::string placement_lines(const Process& process) {
  const Placement& placement = process.placement;
  std::string lines;
  const auto add = [&](const char* what, const std::optional<std::string>& value) {
    if (value) lines += std::string(tr(what)) + ": " + printable(*value) + "\n";
  };
  if (placement.slurm_job) add(N_("Slurm job"), std::to_string(*placement.slurm_job));
  add(N_("pod"), placement.pod_uid);
  add(N_("container"), placement.container_id);
  add(N_("container runtime"), placement.container_runtime);
  add(N_("systemd unit"), placement.systemd_unit);
  add(N_("cgroup"), process.cgroup);
  if (process.ns_pid && *process.ns_pid != process.key.pid) {
    add(N_("pid in its own namespace"), std::to_string(*process.ns_pid));
  }
  return lines;
}

}  // namespace

void fill_process(SceneProcess& to, const DeviceProcess& from, const HostProcess* host) {
  to.type = from.type;
  to.is_mps = from.is_mps;
  to.used_bytes = from.used_bytes;
  to.gpu_share = from.sm_percent;
  to.encoder = from.encoder_percent;
  to.decoder = from.decoder_percent;
  to.allocator_reserved = from.allocator_reserved_bytes;
  to.allocator_allocated = from.allocator_allocated_bytes;
  to.allocator_active = from.allocator_active_bytes;
  to.presence = host != nullptr ? host->presence : Presence::absent;
  if (host == nullptr || host->presence != Presence::seen) {
    to.ppid.reset();
    to.state.reset();
    to.host_bytes.reset();
    to.age_ns.reset();
    to.cpu_percent.reset();
    to.user.clear();
    to.command.clear();
    to.raw_command.clear();
    to.place.clear();
    to.is_orphan = false;
    return;
  }
  const Process& process = host->process;
  to.ppid = process.ppid;
  to.state = process.state;
  to.host_bytes = process.rss_bytes;
  to.age_ns = host->age_ns;
  to.cpu_percent = process.cpu_percent;
  to.is_orphan = host->is_orphan.value_or(false);
  const std::string& command = process.command ? *process.command : process.name;
  if (to.raw_command == command && !to.raw_command.empty()) return;
  to.raw_command = command;
  to.command = printable(command);
  to.user = printable(process.user.value_or(""));
  to.place = place_of(process.placement);
}

std::optional<std::int64_t> start_ticks_of(std::int32_t pid, const Roots& roots) {
  const auto text = read_file(roots.proc + "/" + std::to_string(pid) + "/stat");
  const auto stat = text ? parse_process_stat(*text) : std::nullopt;
  return stat ? std::optional(stat->start_ticks) : std::nullopt;
}

SceneDetails read_details(const ProcessKey& key, const HostProcess* host, bool with_environment, const Roots& roots) {
  SceneDetails details;
  details.key = key;
  if (host != nullptr && host->presence == Presence::seen) details.placement = placement_lines(host->process);
  const std::string folder = roots.proc + "/" + std::to_string(key.pid);
  const auto start = start_ticks_of(key.pid, roots);
  if (!start || *start != key.start_ticks) {
    details.problem = tr("/proc does not show this process here, so there is no more to tell of it.");
    return details;
  }
  if (const auto link = read_link_at(AT_FDCWD, (folder + "/cwd").c_str())) details.folder = printable(*link);
  if (!with_environment) return details;
  const auto text = read_file(folder + "/environ", kMostEnvironment);
  if (!text) {
    details.problem = tr("Its environment is not for you to see; look as its user or as root.");
    return details;
  }
  details.has_environment = true;
  for (std::size_t begin = 0; begin < text->size();) {
    const std::size_t end = std::min(text->find('\0', begin), text->size());
    if (end > begin) details.environment.push_back(printable(std::string_view(*text).substr(begin, end - begin)));
    begin = end + 1;
  }
  std::sort(details.environment.begin(), details.environment.end());
  return details;
}

}  // namespace vramscope::tui
