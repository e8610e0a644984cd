#pragma once
// /proc/PID/cgroup, and what the paths in it tell about who runs a process. Pure functions over text.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope {

// A line of /proc/PID/cgroup: "9:memory:/docker/…" (version 1) or "0::/system.slice/…" (version 2).
struct CgroupLine {
  std::int64_t hierarchy = 0;
  std::string controllers;  // apart by commas; "name=systemd" for one without; empty in version 2
  std::string path;         // without the kernel's mark " (deleted)"
  bool has_controller(std::string_view name) const;
  bool is_version_2() const { return hierarchy == 0 && controllers.empty(); }
};

// Lines that are no such lines are left out.
std::vector<CgroupLine> parse_cgroup_file(std::string_view text);

// The one path to show: that of version 2, else of systemd, else of memory, else the first, the root only when there is
// no other. Nothing without lines.
std::optional<std::string> main_cgroup_path(const std::vector<CgroupLine>& lines);

// Who runs the process. Where containers are nested, the innermost.
struct Placement {
  std::optional<std::string> container_id;       // 64 hex digits; a name for LXC
  std::optional<std::string> container_runtime;  // docker, containerd, crio, podman, lxc; the path may not tell
  std::optional<std::string> pod_uid;            // Kubernetes, with dashes where it has them
  std::optional<std::string> systemd_unit;       // innermost .service or .scope
  std::optional<std::int64_t> slurm_job;
  bool operator==(const Placement&) const = default;
};

Placement placement_of_path(std::string_view path);
// Of all lines together: in a mixed hierarchy each may know a part.
Placement placement_of(const std::vector<CgroupLine>& lines);

}  // namespace vramscope
