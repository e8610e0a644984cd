#include "system/host.h"

#include <unistd.h>

#include "system/cgroup.h"
#include "system/fields.h"
#include "system/files.h"
#include "system/mounts.h"
#include "system/process.h"

namespace vramscope {

namespace {

// Inode of the machine's first pid namespace: PROC_PID_INIT_INO in the kernel's proc_ns.h.
constexpr std::int64_t kInitialPidNamespace = 0xEFFFFFFC;

std::optional<std::string> read_first_line(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  const std::string_view line = take_until(rest, '\n');
  return line.empty() ? std::nullopt : std::optional(std::string(line));
}

// With a cgroup namespace the cgroup's path says nothing, but the files that a runtime puts into the container (its
// hosts, its resolv.conf) are mounted from folders that are named after it.
void read_mounts_of_container(const Roots& roots, Placement& placement) {
  for (const Mount& mount : read_mounts(roots)) {
    // A host that runs containers mounts from such folders too, but not there.
    if (!mount.point.starts_with("/etc/") && mount.point != "/dev/termination-log") continue;
    std::string_view rest = mount.root;
    std::string_view before;
    while (!rest.empty()) {
      const std::string_view segment = take_until(rest, '/');
      // /var/lib/docker/containers/ID/…, /…/overlay-containers/ID/userdata/…, /var/lib/kubelet/pods/UID/…
      if ((before == "containers" || before == "overlay-containers") && !placement.container_id) {
        const Placement named = placement_of_path(segment);
        placement.container_id = named.container_id;
        if (named.container_id) placement.container_runtime = before == "containers" ? "docker" : "podman";
      }
      if (before == "pods" && !placement.pod_uid) {
        placement.pod_uid = placement_of_path("kubepods/pod" + std::string(segment)).pod_uid;
      }
      before = segment;
    }
  }
}

void read_container(const Roots& roots, MachineFacts& host) {
  Placement placement;
  if (const auto text = read_file(roots.proc + "/self/cgroup")) placement = placement_of(parse_cgroup_file(*text));
  read_mounts_of_container(roots, placement);
  const std::string root = roots.proc + "/self/root";
  const bool has_docker_mark = ::access((root + "/.dockerenv").c_str(), F_OK) == 0;
  const bool has_podman_mark = ::access((root + "/run/.containerenv").c_str(), F_OK) == 0;
  if (!placement.container_runtime && has_docker_mark) placement.container_runtime = "docker";
  if (!placement.container_runtime && has_podman_mark) placement.container_runtime = "podman";
  host.container_id = placement.container_id;
  host.container_runtime = placement.container_runtime;
  host.pod_uid = placement.pod_uid;
  host.is_container = placement.container_id || placement.pod_uid || has_docker_mark || has_podman_mark;
}

}  // namespace

std::optional<std::int64_t> count_cpu_list(std::string_view list) {
  while (list.ends_with('\n')) list.remove_suffix(1);
  std::int64_t count = 0;
  constexpr std::int64_t kMostCpus = 1 << 20;
  while (!list.empty()) {
    std::string_view range = take_until(list, ',');
    const auto first = parse_int64(take_until(range, '-'));
    const auto last = range.empty() ? first : parse_int64(range);
    if (!first || !last || *first < 0 || *last < *first || *last >= kMostCpus) return std::nullopt;
    count += *last - *first + 1;
    if (count > kMostCpus) return std::nullopt;
  }
  return count > 0 ? std::optional(count) : std::nullopt;
}

MachineFacts read_machine(const Roots& roots) {
  MachineFacts host;
  host.boot_id = read_first_line(roots.proc + "/sys/kernel/random/boot_id");
  host.host_name = read_first_line(roots.proc + "/sys/kernel/hostname");
  host.kernel = read_first_line(roots.proc + "/sys/kernel/osrelease");
  if (const auto list = read_file(roots.sys + "/devices/system/cpu/online")) host.cores = count_cpu_list(*list);
  if (const long ticks = ::sysconf(_SC_CLK_TCK); ticks > 0) host.ticks_per_second = ticks;
  if (const long bytes = ::sysconf(_SC_PAGESIZE); bytes > 0) host.page_bytes = bytes;
  // Past the counts of interrupts, which are long on large machines.
  constexpr std::size_t kMostBytes = 1 << 20;
  if (const auto stat = read_file(roots.proc + "/stat", kMostBytes)) {
    const auto seconds = find_number(*stat, "btime ");
    if (seconds && *seconds > 0) host.boot_time_ns = product(*seconds, 1'000'000'000);
  }
  if (const auto link = read_link_at(AT_FDCWD, (roots.proc + "/self/ns/pid").c_str())) {
    host.pid_namespace = parse_namespace_link(*link);
  }
  if (host.pid_namespace) host.is_initial_pid_namespace = *host.pid_namespace == kInitialPidNamespace;
  host.is_wsl = host.kernel && (host.kernel->find("microsoft") != std::string::npos ||
                                host.kernel->find("Microsoft") != std::string::npos);
  read_container(roots, host);
  return host;
}

}  // namespace vramscope
