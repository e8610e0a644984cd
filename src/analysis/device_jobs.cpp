#include "analysis/device_jobs.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "analysis/log_reading.h"

namespace vramscope {

namespace {

constexpr std::int64_t kLeastHeld = std::int64_t{256} << 20;  // less holds no work: a display, a monitor
constexpr std::int64_t kLeastInUse = std::int64_t{2} << 30;   // where memory is the only sign
constexpr double kAlikeByName = 0.8;
constexpr double kAlikeByMemory = 0.95;

bool is_alike(std::int64_t a, std::int64_t b, double share) {
  const auto [less, more] = std::minmax(a, b);
  return more > 0 && static_cast<double>(less) >= share * static_cast<double>(more);
}

// Sets of devices that belong together.
class Groups {
 public:
  explicit Groups(std::size_t size) : parent_(size), sign_(size, JobSign::memory) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t root(std::size_t at) const {
    while (parent_[at] != at) at = parent_[at];
    return at;
  }
  void join(std::size_t a, std::size_t b, JobSign sign) {
    const std::size_t from = root(a);
    const std::size_t to = root(b);
    if (from == to) return;
    const JobSign both = std::min({sign, sign_[from], sign_[to]});
    parent_[std::max(from, to)] = std::min(from, to);
    sign_[std::min(from, to)] = both;
  }
  JobSign sign(std::size_t at) const { return sign_[root(at)]; }

 private:
  std::vector<std::size_t> parent_;
  std::vector<JobSign> sign_;
};

// The most that a process ever held on a device; -1 where that is not told.
std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> most_held(const DeviceLog& log) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> held;  // by process and device
  for (const LogUse& use : log.uses) {
    if (use.type == LogProcessType::graphics) continue;
    const std::int64_t bytes = use.used_bytes == kNoLogValue ? -1 : use.used_bytes;
    const auto [place, is_new] = held.try_emplace({use.process, use.device}, bytes);
    if (!is_new) place->second = std::max(place->second, bytes);
  }
  return held;
}

void join_by_processes(const DeviceLog& log, Groups& groups) {
  const auto held = most_held(log);
  std::map<std::string, std::vector<std::pair<std::uint32_t, std::int64_t>>> by_name;
  std::optional<std::pair<std::uint32_t, std::uint32_t>> before;
  for (const auto& [key, bytes] : held) {
    if (bytes >= 0 && bytes < kLeastHeld) continue;
    if (before && before->first == key.first) groups.join(before->second, key.second, JobSign::process);
    before = key;
    const std::string& name = log.processes[key.first].name;
    if (!name.empty() && bytes >= 0) by_name[name].emplace_back(key.second, bytes);
  }
  for (const auto& [name, all] : by_name) {
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (is_alike(all[i - 1].second, all[i].second, kAlikeByName)) {
        groups.join(all[i - 1].first, all[i].first, JobSign::name);
      }
    }
  }
}

void join_by_memory(const DeviceLog& log, Groups& groups) {
  std::vector<std::pair<std::size_t, std::int64_t>> used;
  for (std::size_t at = 0; at < log.devices.size(); ++at) {
    if (log.devices[at].parent || has_mig_devices(log, at)) continue;
    const auto range = known_range(log.devices[at], Metric::memory_used);
    if (range && range->most >= kLeastInUse) used.emplace_back(at, range->most);
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    for (std::size_t k = i + 1; k < used.size(); ++k) {
      if (is_alike(used[i].second, used[k].second, kAlikeByMemory)) {
        groups.join(used[i].first, used[k].first, JobSign::memory);
      }
    }
  }
}

}  // namespace

DeviceJobs device_jobs(const DeviceLog& log) {
  DeviceJobs all;
  std::set<std::int64_t> numbers;
  std::set<std::string> hosts;
  for (std::size_t at = 0; at < log.devices.size(); ++at) {
    if (log.devices[at].parent) continue;
    ++all.gpus;
    if (!numbers.insert(shown_index(log, at)).second) all.is_of_many_machines = true;
    if (std::string host = last_text(log, log.devices[at], Metric::hostname); !host.empty()) {
      hosts.insert(std::move(host));
    }
  }
  all.is_of_many_machines = all.is_of_many_machines || hosts.size() > 1;
  if (all.is_of_many_machines || all.gpus < 2) return all;
  Groups groups(log.devices.size());
  if (log.uses.empty()) {
    join_by_memory(log, groups);
  } else {
    join_by_processes(log, groups);
  }
  std::map<std::size_t, DeviceJob> by_root;
  for (std::size_t at = 0; at < log.devices.size(); ++at) {
    if (log.devices[at].parent) continue;
    DeviceJob& job = by_root[groups.root(at)];
    job.devices.push_back(at);
    job.sign = groups.sign(at);
  }
  for (auto& [root, job] : by_root) {
    if (job.devices.size() > 1) all.jobs.push_back(std::move(job));
  }
  return all;
}

}  // namespace vramscope
