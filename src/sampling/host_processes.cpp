#include "sampling/host_processes.h"

#include <algorithm>
#include <limits>

#include "system/files.h"
#include "system/process_tree.h"

namespace vramscope {

namespace {

// The pids of all devices, ascending, each once. Those that no process can have are left out.
void collect_pids(const LiveSample& sample, std::vector<std::int32_t>& pids) {
  pids.clear();
  for (const DeviceSample& device : sample.devices()) {
    for (const DeviceProcess& process : device.processes) {
      if (process.pid <= 0 || process.pid > std::numeric_limits<std::int32_t>::max()) continue;
      pids.push_back(static_cast<std::int32_t>(process.pid));
    }
  }
  std::sort(pids.begin(), pids.end());
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
}

HostProcess* entry_of(LiveSample& sample, std::int32_t pid) {
  return const_cast<HostProcess*>(static_cast<const LiveSample&>(sample).find(pid));
}

std::int64_t ticks_to_ns(std::int64_t ticks) {
  static const std::int64_t tick_ns = 1'000'000'000 / std::max<std::int64_t>(::sysconf(_SC_CLK_TCK), 1);
  return ticks < std::numeric_limits<std::int64_t>::max() / tick_ns ? ticks * tick_ns : 0;
}

std::int64_t boottime_now_ns() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

HostProcesses::HostProcesses(Roots roots, std::int64_t rest_ns)
    : roots_(roots), rest_ns_(rest_ns), table_(std::move(roots)) {}

// How many of the known ones have rested for long enough, going round evenly.
std::size_t HostProcesses::count_due(std::int64_t now_ns) {
  const std::size_t most = std::min(kMostAsked, pids_.size());
  if (rest_ns_ <= 0) return most;
  const std::int64_t passed_ns = chosen_ns_ ? std::clamp<std::int64_t>(now_ns - *chosen_ns_, 0, rest_ns_) : rest_ns_;
  const double due = static_cast<double>(pids_.size()) * static_cast<double>(passed_ns) / static_cast<double>(rest_ns_);
  const auto count = std::min(static_cast<std::size_t>(due), most);
  if (count > 0 || pids_.empty()) chosen_ns_ = now_ns;
  return count;
}

// All that are new, and of the others the next in turn.
void HostProcesses::choose_asked(const LiveSample& sample) {
  asked_.clear();
  for (const HostProcess& entry : sample.processes) {
    if (entry.presence != Presence::seen) asked_.push_back(entry.pid);
  }
  const std::size_t turn = count_due(sample.time_ns);
  for (std::size_t i = 0; i < turn; ++i) asked_.push_back(pids_[(next_asked_ + i) % pids_.size()]);
  next_asked_ = pids_.empty() ? 0 : (next_asked_ + turn) % pids_.size();
  std::sort(asked_.begin(), asked_.end());
  asked_.erase(std::unique(asked_.begin(), asked_.end()), asked_.end());
}

// An entry for each of pids_, with what was known before of those that are still there.
void HostProcesses::take_pids(LiveSample& sample) {
  const auto has_pid = [](const HostProcess& entry, std::int32_t pid) { return entry.pid == pid; };
  if (std::equal(sample.processes.begin(), sample.processes.end(), pids_.begin(), pids_.end(), has_pid)) return;
  std::swap(before_, sample.processes);
  sample.processes.resize(pids_.size());
  auto before = before_.begin();
  for (std::size_t i = 0; i < pids_.size(); ++i) {
    HostProcess& entry = sample.processes[i];
    while (before != before_.end() && before->pid < pids_[i]) ++before;
    if (before != before_.end() && before->pid == pids_[i]) {
      std::swap(entry, *before);
    } else {
      entry = {};
      entry.pid = entry.process.key.pid = pids_[i];
      entry.presence = Presence::absent;
    }
  }
  std::erase_if(kin_, [&](const auto& each) { return !std::binary_search(pids_.begin(), pids_.end(), each.first); });
}

void HostProcesses::join(LiveSample& sample) {
  collect_pids(sample, pids_);
  take_pids(sample);
  choose_asked(sample);
  const ProcessSample seen = table_.sample(asked_, sample.time_ns);
  const auto set_unseen = [&](std::int32_t pid, Presence presence) {
    HostProcess* entry = entry_of(sample, pid);
    if (entry == nullptr) return;
    *entry = {};
    entry->pid = entry->process.key.pid = pid;
    entry->presence = presence;
  };
  for (const std::int32_t pid : seen.absent) set_unseen(pid, Presence::absent);
  for (const std::int32_t pid : seen.unreadable) set_unseen(pid, Presence::unreadable);
  for (const Process* process : seen.processes) {
    HostProcess* entry = entry_of(sample, process->key.pid);
    if (entry == nullptr) continue;
    entry->presence = Presence::seen;
    entry->process = *process;
    add_kin(*entry);
  }
  const std::int64_t boottime_ns = boottime_now_ns();
  for (HostProcess& entry : sample.processes) {
    if (entry.presence != Presence::seen) continue;
    const std::int64_t age_ns = boottime_ns - ticks_to_ns(entry.process.key.start_ticks);
    entry.age_ns = age_ns >= 0 ? std::optional(age_ns) : std::nullopt;
  }
}

// Asked again only when the parent changes.
void HostProcesses::add_kin(HostProcess& entry) {
  const Process& process = entry.process;
  const auto [place, is_new] = kin_.try_emplace(entry.pid);
  Kin& kin = place->second;
  if (is_new || kin.start_ticks != process.key.start_ticks || kin.ppid != process.ppid) {
    kin.start_ticks = process.key.start_ticks;
    kin.ppid = process.ppid;
    kin.parent_name.reset();
    if (process.ppid && *process.ppid > 0) {
      kin.parent_name = read_file(roots_.proc + "/" + std::to_string(*process.ppid) + "/comm", 64);
      if (kin.parent_name && !kin.parent_name->empty() && kin.parent_name->back() == '\n') kin.parent_name->pop_back();
    }
    kin.is_orphan = is_orphan(roots_, process);
  }
  entry.parent_name = kin.parent_name;
  entry.is_orphan = kin.is_orphan;
}

void join_simulated(LiveSample& sample) {
  std::vector<std::int32_t> pids;
  collect_pids(sample, pids);
  sample.processes.resize(pids.size());
  for (std::size_t i = 0; i < pids.size(); ++i) {
    sample.processes[i].pid = pids[i];
    sample.processes[i].presence = Presence::absent;
    sample.processes[i].process.key.pid = pids[i];
  }
  for (const DeviceSample& device : sample.devices()) {
    for (const DeviceProcess& from : device.processes) {
      HostProcess* entry = from.host ? entry_of(sample, static_cast<std::int32_t>(from.pid)) : nullptr;
      if (entry == nullptr || entry->presence == Presence::seen) continue;
      const HostFacts& facts = *from.host;
      entry->presence = Presence::seen;
      Process& process = entry->process;
      process.name = facts.name.substr(0, facts.name.find(' '));
      if (!facts.name.empty()) process.command = facts.name;
      if (!facts.user.empty()) process.user = facts.user;
      process.state = facts.state;
      process.ppid = static_cast<std::int32_t>(facts.parent_pid);
      entry->is_orphan = facts.parent_pid == 1;
      entry->age_ns = sample.time_ns - facts.start_ns;
    }
  }
}

}  // namespace vramscope
