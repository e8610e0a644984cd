#include "system/process_tree.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "system/fields.h"
#include "system/files.h"

namespace vramscope {

namespace {

// A folder of /proc cannot hold more than the kernel's largest pid.
constexpr std::size_t kMostProcesses = 4 << 20;

std::string folder_of(const Roots& roots, std::int32_t pid) {
  return roots.proc + "/" + std::to_string(pid);
}

std::optional<ProcessStat> read_stat(const Roots& roots, std::int32_t pid, std::string& text) {
  auto read = read_file(folder_of(roots, pid) + "/stat");
  if (!read) return std::nullopt;
  text = std::move(*read);
  return parse_process_stat(text);
}

void add_children(std::string_view text, std::vector<std::int32_t>& children) {
  for (std::string_view word = take_word(text); !word.empty(); word = take_word(text)) {
    const auto pid = parse_int64(word);
    if (pid && *pid > 0 && *pid <= INT32_MAX) children.push_back(static_cast<std::int32_t>(*pid));
  }
}

std::vector<std::int32_t> children_of(const Roots& roots, std::int32_t pid) {
  constexpr std::size_t kMostBytes = 1 << 20;
  std::vector<std::int32_t> children;
  const std::string tasks = folder_of(roots, pid) + "/task";
  const auto threads = read_numbered_entries(tasks);
  if (!threads) return children;
  for (const std::int32_t thread : *threads) {
    if (const auto text = read_file(tasks + "/" + std::to_string(thread) + "/children", kMostBytes)) {
      add_children(*text, children);
    }
  }
  return children;
}

// Everything below `pid`. Files that name a process twice or in a circle do no harm.
template <typename Children>
std::vector<std::int32_t> walk(std::int32_t pid, const Children& children) {
  std::unordered_set<std::int32_t> seen{pid};
  std::vector<std::int32_t> found;
  std::vector<std::int32_t> open{pid};
  while (!open.empty() && seen.size() < kMostProcesses) {
    const std::int32_t next = open.back();
    open.pop_back();
    for (const std::int32_t child : children(next)) {
      if (!seen.insert(child).second) continue;
      found.push_back(child);
      open.push_back(child);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Names of processes that adopt orphans, besides pid 1 (PR_SET_CHILD_SUBREAPER, or the first of a container).
bool adopts(std::string_view name) {
  constexpr std::string_view kExact[] = {"systemd", "init", "tini", "docker-init", "dumb-init", "catatonit", "conmon"};
  return std::find(std::begin(kExact), std::end(kExact), name) != std::end(kExact) ||
         name.starts_with("containerd-shim") || name.starts_with("Relay(");
}

bool is_adopter(const Roots& roots, std::int32_t pid) {
  if (pid == 1) return true;
  std::string text;
  const auto stat = read_stat(roots, pid, text);
  if (stat && adopts(stat->name)) return true;
  const auto status = read_file(folder_of(roots, pid) + "/status");
  return status && parse_process_status(*status).ns_pid == 1;
}

}  // namespace

std::vector<std::int32_t> descendants(const Roots& roots, std::int32_t pid) {
  const std::string own = std::to_string(pid);
  if (!read_file(roots.proc + "/" + own + "/task/" + own + "/children", 1)) return descendants_by_parent(roots, pid);
  return walk(pid, [&](std::int32_t parent) { return children_of(roots, parent); });
}

std::vector<std::int32_t> descendants_by_parent(const Roots& roots, std::int32_t pid) {
  std::unordered_map<std::int32_t, std::vector<std::int32_t>> children;
  if (const auto all = read_numbered_entries(roots.proc)) {
    std::string text;
    for (const std::int32_t child : *all) {
      const auto stat = read_stat(roots, child, text);
      if (stat && stat->ppid) children[*stat->ppid].push_back(child);
    }
  }
  return walk(pid, [&](std::int32_t parent) { return children[parent]; });
}

std::optional<bool> is_orphan(const Roots& roots, const Process& process) {
  if (!process.ppid) return std::nullopt;
  if (process.first_ppid && *process.first_ppid != *process.ppid) return true;
  if (*process.ppid == 0) return false;  // the first of a namespace, or the kernel's own
  if (!process.session_id) return std::nullopt;
  if (*process.session_id == process.key.pid || *process.session_id == *process.ppid) return false;
  // Daemons leave their starter on purpose. A user's own manager starts shells and desktops too, so it does not count.
  const auto& unit = process.placement.systemd_unit;
  const bool is_users = process.cgroup && process.cgroup->find("/user.slice/") != std::string::npos;
  if (unit && unit->ends_with(".service") && !is_users) return false;
  return is_adopter(roots, *process.ppid);
}

}  // namespace vramscope
