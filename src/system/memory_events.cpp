#include "system/memory_events.h"

#include <sys/stat.h>

#include <algorithm>

#include "system/fields.h"
#include "system/files.h"

namespace vramscope {

namespace {

// Version 1 writes the largest page-aligned number for "no limit". No machine has as much as this.
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

bool is_folder(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

bool leads_outside(std::string_view path) {
  while (!path.empty()) {
    if (take_until(path, '/') == "..") return true;
  }
  return false;
}

// `path` relative to the folder `root` of the file system; nothing when it is not below.
std::optional<std::string_view> below(std::string_view path, std::string_view root) {
  if (leads_outside(path) || leads_outside(root)) return std::nullopt;
  if (root == "/") return path == "/" ? std::string_view() : path;
  if (!path.starts_with(root)) return std::nullopt;
  path.remove_prefix(root.size());
  if (!path.empty() && path[0] != '/') return std::nullopt;
  return path == "/" ? std::string_view() : path;
}

std::optional<std::string> place_of(const Roots& roots, const std::string& point) {
  constexpr std::string_view kSys = "/sys";
  if (point == kSys || point.starts_with("/sys/")) return roots.sys + point.substr(kSys.size());
  return roots.sys == kSys ? std::optional(point) : std::nullopt;
}

// The folders from `path` up to the mount; empty when this mount does not show it.
std::vector<std::string> folders_in(const Roots& roots, const Mount& mount, const std::string& path) {
  std::vector<std::string> folders;
  const auto relative = below(path, mount.root);
  const auto place = place_of(roots, mount.point);
  if (!relative || !place || !is_folder(*place + std::string(*relative))) return folders;
  std::string_view rest = *relative;
  while (true) {
    folders.push_back(*place + std::string(rest));
    if (rest.empty()) return folders;
    rest = rest.substr(0, rest.rfind('/'));
  }
}

std::optional<std::int64_t> read_bytes(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  const auto value = parse_int64(take_word(rest));  // "max" is no number
  return value && *value >= 0 && *value < kNoLimit ? value : std::nullopt;
}

std::optional<std::int64_t> smaller(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

CgroupMemoryLevel read_version_1(const std::string& folder) {
  CgroupMemoryLevel level;
  level.folder = folder;
  level.limit_bytes = read_bytes(folder + "/memory.limit_in_bytes");
  level.current_bytes = read_bytes(folder + "/memory.usage_in_bytes");
  level.peak_bytes = read_bytes(folder + "/memory.max_usage_in_bytes");
  level.limit_misses = read_bytes(folder + "/memory.failcnt");
  if (const auto text = read_file(folder + "/memory.oom_control")) level.oom_kills = find_number(*text, "oom_kill ");
  return level;
}

CgroupMemoryLevel read_version_2(const std::string& folder) {
  CgroupMemoryLevel level;
  level.folder = folder;
  level.limit_bytes = read_bytes(folder + "/memory.max");
  level.current_bytes = read_bytes(folder + "/memory.current");
  level.peak_bytes = read_bytes(folder + "/memory.peak");
  if (const auto text = read_file(folder + "/memory.events")) {
    level.oom_kills = find_number(*text, "oom_kill ");
    level.limit_misses = find_number(*text, "oom ");
  }
  return level;
}

std::optional<std::int64_t> kibibytes(std::string_view text, std::string_view key) {
  const auto value = find_number(text, key);
  return value && *value >= 0 ? product(*value, 1024) : std::nullopt;
}

}  // namespace

std::optional<MemoryCgroup> find_memory_cgroup(const Roots& roots, const std::vector<CgroupLine>& lines,
                                               const std::vector<Mount>& mounts) {
  // A mixed hierarchy counts memory in version 1 when it names it there, whatever version 2 shows.
  const auto named =
      std::find_if(lines.begin(), lines.end(), [](const CgroupLine& l) { return l.has_controller("memory"); });
  const bool is_version_1 = named != lines.end();
  const auto line =
      is_version_1 ? named
                   : std::find_if(lines.begin(), lines.end(), [](const CgroupLine& l) { return l.is_version_2(); });
  if (line == lines.end()) return std::nullopt;
  for (const Mount& mount : mounts) {
    const bool fits = is_version_1 ? mount.type == "cgroup" && mount.has_option("memory") : mount.type == "cgroup2";
    if (!fits) continue;
    auto folders = folders_in(roots, mount, line->path);
    if (!folders.empty()) return MemoryCgroup{is_version_1 ? 1 : 2, std::move(folders)};
  }
  return std::nullopt;
}

std::optional<MemoryCgroup> find_memory_cgroup(const Roots& roots, std::int32_t pid) {
  const auto text = read_file(roots.proc + "/" + std::to_string(pid) + "/cgroup");
  if (!text) return std::nullopt;
  return find_memory_cgroup(roots, parse_cgroup_file(*text), read_mounts(roots));
}

std::optional<CgroupMemory> read_cgroup_memory(const MemoryCgroup& cgroup) {
  CgroupMemory memory;
  memory.version = cgroup.version;
  for (const std::string& folder : cgroup.folders) {
    CgroupMemoryLevel level = cgroup.version == 1 ? read_version_1(folder) : read_version_2(folder);
    const bool tells = level.limit_bytes || level.current_bytes || level.peak_bytes || level.oom_kills;
    if (!tells) continue;
    memory.limit_bytes = smaller(memory.limit_bytes, level.limit_bytes);
    if (!memory.oom_kills) memory.oom_kills = level.oom_kills;
    memory.levels.push_back(std::move(level));
  }
  return memory.levels.empty() ? std::nullopt : std::optional(std::move(memory));
}

HostMemory read_host_memory(const Roots& roots) {
  HostMemory memory;
  if (const auto text = read_file(roots.proc + "/meminfo")) {
    memory.total_bytes = kibibytes(*text, "MemTotal:");
    memory.available_bytes = kibibytes(*text, "MemAvailable:");
    memory.free_bytes = kibibytes(*text, "MemFree:");
    memory.swap_total_bytes = kibibytes(*text, "SwapTotal:");
    memory.swap_free_bytes = kibibytes(*text, "SwapFree:");
  }
  if (const auto text = read_file(roots.proc + "/vmstat")) memory.oom_kills = find_number(*text, "oom_kill ");
  return memory;
}

}  // namespace vramscope
