#include "monitor/end_watch.h"

#include <sys/stat.h>

#include <algorithm>

namespace vramscope {

namespace {

// Number of the machine's first pid namespace: PROC_PID_INIT_INO in Linux' include/linux/proc_ns.h.
constexpr ino_t kFirstPidNamespace = 0xEFFFFFFC;

bool is_first_pid_namespace(const Roots& roots) {
  struct stat facts {};
  return stat((roots.proc + "/self/ns/pid").c_str(), &facts) == 0 && facts.st_ino == kFirstPidNamespace;
}

std::string name_of(const Roots& roots, std::int32_t pid) {
  auto name = read_file(roots.proc + "/" + std::to_string(pid) + "/comm");
  if (!name) return {};
  while (!name->empty() && name->back() == '\n') name->pop_back();
  return *name;
}

}  // namespace

KernelNews::KernelNews(const Roots& roots, const std::string& path)
    : are_pids_the_kernels_(is_first_pid_namespace(roots)) {
  if (auto log = KernelLog::open(std::nullopt, path)) log_ = std::move(*log);
}

void KernelNews::update() {
  if (!log_) return;
  for (auto events = log_->poll(); !events.empty(); events = log_->poll()) {
    for (KernelEvent& event : events) events_.push_back(std::move(event));
    while (events_.size() > kMostEvents) events_.pop_front();
  }
}

EndWatch::EndWatch(Roots roots, std::string program, Watched watched, std::int64_t look_back_ns,
                   std::shared_ptr<MemoryCounts> counts)
    : roots_(std::move(roots)),
      program_(std::move(program)),
      watched_(watched),
      look_back_ns_(look_back_ns),
      is_counting_alone_(counts == nullptr),
      counts_(counts ? std::move(counts) : std::make_shared<MemoryCounts>(roots_)) {
  host_before_ = host_later_ = this->counts().host();
}

MemoryCounts& EndWatch::counts() const {
  if (is_counting_alone_) counts_->begin_look();
  return *counts_;
}

void EndWatch::see_process(std::int32_t pid, std::int64_t now_ns) {
  Seen& seen = seen_[pid];
  seen.last_ns = now_ns;
  if (!seen.name.empty()) return;
  seen.name = name_of(roots_, pid);
  if (cgroups_.size() >= kMostCgroups) return;
  const auto counted = counts().of_process(pid);
  if (!counted) return;
  const bool is_known = std::any_of(cgroups_.begin(), cgroups_.end(), [&](const Counted& each) {
    return each.before->cgroup.folders == counted->cgroup.folders;
  });
  if (!is_known) cgroups_.push_back({counted, counted});
}

void EndWatch::see_devices(const LiveSample& sample) {
  is_played_back_ = sample.is_played_back;
  for (const DeviceSample& device : sample.devices()) {
    const bool is_used = std::any_of(
        device.processes.begin(), device.processes.end(),
        [&](const DeviceProcess& process) { return seen_.count(static_cast<std::int32_t>(process.pid)) != 0; });
    const std::string uuid = device_key(sample, device);
    if (is_used && !is_played_back_) used_.insert(uuid);
    if (watched_ == Watched::one_process && used_.count(uuid) == 0) continue;
    const auto xid = device.number(Metric::xid_last);
    auto [known, is_new] = seen_devices_.try_emplace(uuid);
    if (is_new) known->second = {device.index, uuid, std::string(device.text(Metric::pci_bus_id)), xid, xid};
    if (xid) known->second.xid = xid;
  }
}

// What was counted at the last call but one is "before", and processes that were gone by then are forgotten.
void EndWatch::count_anew(std::int64_t now_ns) {
  std::erase_if(seen_, [&](const auto& each) { return now_ns - each.second.last_ns > look_back_ns_; });
  host_before_ = host_later_;
  host_later_ = counts().host();
  for (Counted& each : cgroups_) {
    each.before = each.later;
    if (auto again = counts().again(*each.later)) each.later = std::move(again);
  }
}

void EndWatch::see(const std::set<std::int64_t>& pids, const LiveSample* sample, std::int64_t now_ns) {
  for (const std::int64_t pid : pids) see_process(static_cast<std::int32_t>(pid), now_ns);
  if (sample != nullptr) see_devices(*sample);
  if (!counted_ns_) counted_ns_ = now_ns;
  if (now_ns - *counted_ns_ < look_back_ns_) return;
  counted_ns_ = now_ns;
  count_anew(now_ns);
}

void EndWatch::count_from(const HostMemory& host) {
  host_before_ = host;
  is_gated_ = true;
}

EndReason EndWatch::explain(const End& end, const Monitor& monitor, const KernelNews& kernel) const {
  EndFacts facts;
  facts.end = end.end;
  facts.program = program_;
  facts.is_child = watched_ == Watched::child;
  facts.asked_to_end = end.asked_to_end;
  for (const auto& [pid, seen] : seen_) facts.names[pid] = seen.name;
  facts.names.try_emplace(end.end.pid);
  facts.output = end.output;
  facts.end_ns = end.time_ns;
  facts.end_real_ns = end.real_time_ns;
  facts.host_before = host_before_;
  facts.host_after = counts().host();
  const bool has_risen = facts.host_before.oom_kills != facts.host_after.oom_kills;
  for (const Counted& each : cgroups_) {
    if (is_gated_ && !has_risen) break;
    const auto again = counts().again(*each.later);
    facts.cgroups.push_back({each.before->cgroup, each.before->memory, (again ? again : each.later)->memory});
  }
  facts.kernel.assign(kernel.events().begin(), kernel.events().end());
  facts.is_kernel_log_readable = kernel.is_readable();
  facts.are_pids_the_kernels = kernel.are_pids_the_kernels();
  facts.is_played_back = is_played_back_;
  facts.deaths = end.deaths;
  for (const std::string& uuid : used_) facts.devices.push_back(seen_devices_.at(uuid));
  facts.monitor = &monitor;
  return explain_end(facts);
}

}  // namespace vramscope
