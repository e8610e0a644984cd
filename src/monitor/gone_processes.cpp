#include "monitor/gone_processes.h"

#include <set>

#include "system/files.h"

namespace vramscope {

GoneProcesses::GoneProcesses(Roots roots)
    : roots_(std::move(roots)), kernel_(roots_), counts_(std::make_shared<MemoryCounts>(roots_)) {}

// A zombie has ended.
bool GoneProcesses::is_alive(std::int64_t pid) const {
  const auto stat = read_file(roots_.proc + "/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat ? stat->rfind(") ") : std::string::npos;
  return name_end != std::string::npos && name_end + 2 < stat->size() && (*stat)[name_end + 2] != 'Z' &&
         (*stat)[name_end + 2] != 'X';
}

void GoneProcesses::see_new(const LiveSample& sample) {
  for (const HostProcess& process : sample.processes) {
    if (process.presence != Presence::seen || watched_.size() >= kMostWatched) continue;
    if (watched_.try_emplace(process.pid).second) waiting_.push_back(process.pid);
  }
  for (std::size_t i = 0; i < kLookedUpASample && !waiting_.empty(); ++i) {
    const std::int64_t pid = waiting_.front();
    waiting_.pop_front();
    const HostProcess* process = sample.find(pid);
    if (process == nullptr) continue;
    EndWatch& watch =
        watched_[pid].emplace(roots_, process->process.name, Watched::one_process, EndWatch::kLookBackNs, counts_);
    watch.see({pid}, &sample, sample.time_ns);
  }
}

std::vector<EndReason> GoneProcesses::take_gone(const LiveSample& sample, const Monitor& monitor) {
  std::vector<EndReason> reasons;
  for (auto each = watched_.begin(); each != watched_.end();) {
    if (sample.find(each->first) != nullptr) {
      ++each;
      continue;
    }
    // It may have given its memory back, or its device does not answer any more.
    if (each->second && !is_alive(each->first)) {
      kernel_.update();
      EndWatch::End end;
      end.end.pid = static_cast<std::int32_t>(each->first);
      end.time_ns = sample.time_ns;
      end.real_time_ns = sample.real_time_ns;
      each->second->see({}, &sample, sample.time_ns);
      each->second->count_from(host_before_);
      EndReason reason = each->second->explain(end, monitor, kernel_);
      if (reason.kind != EndKind::unknown) reasons.push_back(std::move(reason));
    }
    each = watched_.erase(each);
  }
  return reasons;
}

std::vector<EndReason> GoneProcesses::add(const LiveSample& sample, const Monitor& monitor) {
  counts_->begin_look();
  if (!counted_ns_ || sample.time_ns - *counted_ns_ >= kCountEveryNs) {
    host_before_ = counted_ns_ ? host_later_ : counts_->host();
    host_later_ = counts_->host();
    counted_ns_ = sample.time_ns;
  }
  std::vector<EndReason> reasons = take_gone(sample, monitor);
  see_new(sample);
  return reasons;
}

}  // namespace vramscope
