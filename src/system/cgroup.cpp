#include "system/cgroup.h"

#include <algorithm>
#include <cctype>

#include "system/fields.h"

namespace vramscope {

namespace {

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
}

bool is_container_id(std::string_view text) {
  return text.size() == 64 && is_hex(text);
}

// "poda1b2…" with dashes, with underscores as systemd wants them, or the plain 32 digits of a static pod.
std::optional<std::string> pod_uid_of(std::string_view text) {
  std::string uid(text);
  std::replace(uid.begin(), uid.end(), '_', '-');
  if (uid.size() == 32 && is_hex(uid)) return uid;
  if (uid.size() != 36) return std::nullopt;
  for (std::size_t i = 0; i < uid.size(); ++i) {
    const bool is_dash_place = i == 8 || i == 13 || i == 18 || i == 23;
    if (is_dash_place ? uid[i] != '-' : std::isxdigit(static_cast<unsigned char>(uid[i])) == 0) return std::nullopt;
  }
  return uid;
}

// A segment named "<prefix><64 hex digits>[.scope]" is a container of that runtime.
struct Prefix {
  std::string_view prefix, runtime;
};
constexpr Prefix kPrefixes[] = {
    {"docker-", "docker"}, {"cri-containerd-", "containerd"}, {"crio-", "crio"},         {"libpod-", "podman"},
    {"podman-", "podman"}, {"libpod-payload-", "podman"},     {"nerdctl-", "containerd"}};

// A folder whose plain children are containers.
constexpr Prefix kParents[] = {
    {"docker", "docker"}, {"k8s.io", "containerd"}, {"moby", "docker"}, {"ecs", "docker"}, {"libpod_parent", "podman"}};

void set_container(Placement& placement, std::string_view id, std::string_view runtime) {
  placement.container_id = std::string(id);
  placement.container_runtime = runtime.empty() ? std::nullopt : std::optional(std::string(runtime));
}

// "kubepods-burstable-pod….slice:cri-containerd:<id>": containerd told the wrong driver.
bool read_colon_form(std::string_view segment, Placement& placement) {
  const std::size_t last = segment.rfind(':');
  if (last == std::string_view::npos || last == 0 || !is_container_id(segment.substr(last + 1))) return false;
  const std::size_t before = segment.rfind(':', last - 1);
  if (before == std::string_view::npos) return false;
  const std::string_view runtime = segment.substr(before + 1, last - before - 1);
  set_container(placement, segment.substr(last + 1), runtime == "cri-containerd" ? "containerd" : runtime);
  return true;
}

// `runtime` is that of the nearest folder above that tells one.
void read_container(std::string_view segment, std::string_view runtime, Placement& placement) {
  if (read_colon_form(segment, placement)) return;
  std::string_view name = segment;
  if (name.ends_with(".scope")) name.remove_suffix(6);
  if (is_container_id(name)) return set_container(placement, name, runtime);
  for (const Prefix& known : kPrefixes) {
    if (name.starts_with(known.prefix) && is_container_id(name.substr(known.prefix.size()))) {
      return set_container(placement, name.substr(known.prefix.size()), known.runtime);
    }
  }
  constexpr std::string_view kLxc = "lxc.payload.";
  if (name.starts_with(kLxc) && name.size() > kLxc.size()) set_container(placement, name.substr(kLxc.size()), "lxc");
}

void read_pod(std::string_view segment, bool is_in_kubepods, Placement& placement) {
  if (!is_in_kubepods) return;
  std::string_view name = segment.substr(0, segment.find(".slice"));
  if (!name.starts_with("pod")) {
    const std::size_t at = name.rfind("-pod");
    if (at == std::string_view::npos) return;
    name.remove_prefix(at + 1);
  }
  if (auto uid = pod_uid_of(name.substr(3))) placement.pod_uid = std::move(uid);
}

void take_missing(Placement& into, const Placement& from) {
  if (!into.container_id) {
    into.container_id = from.container_id;
    into.container_runtime = from.container_runtime;
  }
  if (!into.pod_uid) into.pod_uid = from.pod_uid;
  if (!into.systemd_unit) into.systemd_unit = from.systemd_unit;
  if (!into.slurm_job) into.slurm_job = from.slurm_job;
}

}  // namespace

bool CgroupLine::has_controller(std::string_view name) const {
  std::string_view rest = controllers;
  while (!rest.empty()) {
    if (take_until(rest, ',') == name) return true;
  }
  return false;
}

std::vector<CgroupLine> parse_cgroup_file(std::string_view text) {
  std::vector<CgroupLine> lines;
  while (!text.empty()) {
    std::string_view rest = take_until(text, '\n');
    const auto hierarchy = parse_int64(take_until(rest, ':'));
    const std::string_view controllers = take_until(rest, ':');
    if (!hierarchy || !rest.starts_with('/')) continue;
    constexpr std::string_view kDeleted = " (deleted)";
    if (rest.ends_with(kDeleted)) rest.remove_suffix(kDeleted.size());
    lines.push_back({*hierarchy, std::string(controllers), std::string(rest)});
  }
  return lines;
}

std::optional<std::string> main_cgroup_path(const std::vector<CgroupLine>& lines) {
  const CgroupLine* best = nullptr;
  int best_rank = 0;
  for (const CgroupLine& line : lines) {
    int rank = 1;
    if (line.path != "/") {
      rank = line.is_version_2() ? 5 : line.has_controller("name=systemd") ? 4 : line.has_controller("memory") ? 3 : 2;
    }
    if (rank > best_rank) {
      best = &line;
      best_rank = rank;
    }
  }
  return best == nullptr ? std::nullopt : std::optional(best->path);
}

Placement placement_of_path(std::string_view path) {
  Placement placement;
  std::string_view runtime;
  bool is_in_kubepods = false;
  bool is_in_slurm = false;
  while (!path.empty()) {
    const std::string_view segment = take_until(path, '/');
    if (segment.empty()) continue;
    for (const Prefix& parent : kParents) {
      if (segment == parent.prefix) runtime = parent.runtime;
    }
    if (segment.find("kubepods") != std::string_view::npos) {
      is_in_kubepods = true;
      runtime = {};  // the kubelet's plain folders do not tell the runtime
    }
    read_pod(segment, is_in_kubepods, placement);
    read_container(segment, runtime, placement);
    // A container that a job or a unit holds keeps them; what the container holds is its own.
    if (is_in_slurm && segment.starts_with("job_")) {
      if (const auto job = parse_int64(segment.substr(4)); job && *job > 0) placement.slurm_job = job;
    }
    if (segment.find("slurm") != std::string_view::npos) is_in_slurm = true;
    if (segment.ends_with(".service") || segment.ends_with(".scope")) placement.systemd_unit = std::string(segment);
  }
  return placement;
}

Placement placement_of(const std::vector<CgroupLine>& lines) {
  Placement placement;
  if (const auto path = main_cgroup_path(lines)) placement = placement_of_path(*path);
  for (const CgroupLine& line : lines) take_missing(placement, placement_of_path(line.path));
  return placement;
}

}  // namespace vramscope
