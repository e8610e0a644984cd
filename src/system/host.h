#pragma once
// The machine, or the container, that we run on.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "system/roots.h"

namespace vramscope {

struct MachineFacts {
  std::optional<std::string> boot_id;    // of this boot of the kernel; the same in all containers on it
  std::optional<std::string> host_name;  // a container's own inside one
  std::optional<std::string> kernel;     // release, as "6.1.0-18-amd64"
  std::optional<std::int64_t> cores;     // logical, online
  std::int64_t ticks_per_second = 100;   // of the times in /proc/PID/stat
  std::int64_t page_bytes = 4096;
  std::optional<std::int64_t> boot_time_ns;   // unix; whole seconds
  std::optional<std::int64_t> pid_namespace;  // ours, inode number
  // False inside containers that have their own: pids that a driver tells may then be of processes we cannot see.
  std::optional<bool> is_initial_pid_namespace;
  bool is_wsl = false;
  bool is_container = false;                     // ourselves, as far as can be told
  std::optional<std::string> container_runtime;  // docker, podman, containerd, crio, lxc
  std::optional<std::string> container_id;       // 64 hex digits
  std::optional<std::string> pod_uid;            // Kubernetes
};

MachineFacts read_machine(const Roots& roots = {});

// How many cores "0-3,8" is. Nothing when it is no such list.
std::optional<std::int64_t> count_cpu_list(std::string_view list);

}  // namespace vramscope
