#include "cli/commands/watch/sampling_thread.h"

#include <sys/eventfd.h>

namespace vramscope {

SamplingThread::SamplingThread(WatchSession& session, EndWatch* end, std::int64_t duration_ns)
    : session_(session), end_(end), duration_ns_(duration_ns), over_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void SamplingThread::follow(std::set<std::int64_t> pids) {
  const std::lock_guard lock(lock_);
  pids_ = std::move(pids);
}

int SamplingThread::step() {
  std::unique_lock lock(lock_);
  const std::optional<std::set<std::int64_t>> pids = pids_;
  lock.unlock();
  if (pids) session_.follow(*pids);
  if (!is_over_) {
    is_over_ = !session_.sample_if_due() || (duration_ns_ > 0 && session_.elapsed_ns() >= duration_ns_);
    if (is_over_) eventfd_write(over_.get(), 1);
  }
  if (end_ != nullptr && pids) end_->see(*pids, session_.last_sample(), monotonic_now_ns());
  return session_.wait_ms();
}

}  // namespace vramscope
