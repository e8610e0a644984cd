#pragma once
// A process as /proc shows it. Unknown is an empty optional, never 0.
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "system/cgroup.h"

namespace vramscope {

// A pid alone returns as another process; with the start time it does not.
struct ProcessKey {
  std::int32_t pid = 0;
  std::int64_t start_ticks = 0;  // clock ticks since boot
  auto operator<=>(const ProcessKey&) const = default;
};

// Strings are the kernel's bytes: they may hold control characters and broken UTF-8, which reports make harmless.
struct Process {
  ProcessKey key;
  std::optional<std::int32_t> ppid;
  std::optional<std::int32_t> first_ppid;   // the parent when it was first seen; differs once that parent has ended
  std::optional<std::int32_t> session_id;   // pid of the session's leader
  std::optional<std::int64_t> uid;          // effective
  std::optional<std::string> user;          // name of `uid` in this machine's (or container's) user database
  std::string name;                         // comm: what the program calls itself, at most 15 bytes
  std::optional<std::string> command;       // arguments joined with spaces; at most kCommandBytes
  std::optional<char> state;                // R S D T t Z X I, as in /proc/PID/stat
  std::optional<std::int64_t> cpu_time_ns;  // user and system time of all threads; steps of a clock tick
  std::optional<double> cpu_percent;        // of one core, since the sample before
  std::optional<std::int64_t> rss_bytes;    // as the kernel counts it for /proc/PID/stat: off by some pages a thread
  std::optional<std::int64_t> threads;
  std::optional<std::int64_t> start_time_ns;  // unix; exact to a second, as the boot time is
  std::optional<std::string> cgroup;
  Placement placement;
  std::optional<std::int64_t> pid_namespace;      // inode number
  std::optional<std::int32_t> ns_pid;             // its pid in its own (innermost) pid namespace
  std::optional<bool> is_in_other_pid_namespace;  // other than ours
};

inline constexpr std::size_t kCommandBytes = 16 * 1024;

// The fields used of /proc/PID/stat (proc(5)).
struct ProcessStat {
  std::string_view name;  // into the text
  std::optional<char> state;
  std::optional<std::int32_t> ppid;
  std::optional<std::int32_t> session_id;
  std::optional<std::int64_t> cpu_ticks;
  std::optional<std::int64_t> threads;
  std::int64_t start_ticks = 0;
  std::optional<std::int64_t> rss_pages;
  std::optional<std::int64_t> stack_start;  // unknown without permission; each exec moves it
  bool is_kernel_thread = false;
};

// Nothing when the text ends before the start time or is no such text. The name may hold anything, ")" too.
std::optional<ProcessStat> parse_process_stat(std::string_view text);

// The fields used of /proc/PID/status.
struct ProcessStatus {
  std::optional<std::int64_t> effective_uid;
  std::optional<std::int32_t> ns_pid;
  std::optional<std::int32_t> namespace_depth;  // pid namespaces from the one of /proc inwards; 1: it is that one
};
ProcessStatus parse_process_status(std::string_view text);

// The bytes of /proc/PID/cmdline as one line; nothing when empty (kernel threads, zombies).
std::optional<std::string> join_arguments(std::string_view cmdline);

// 4026531836 of "pid:[4026531836]".
std::optional<std::int64_t> parse_namespace_link(std::string_view target);

}  // namespace vramscope
