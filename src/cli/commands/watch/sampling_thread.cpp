#include "cli/commands/watch/sampling_thread.h"

namespace vramscope {

void SamplingThread::follow(std::set<std::int64_t> pids) {
  const std::lock_guard lock(lock_);
  pids_ = std::move(pids);
}

int SamplingThread::step() {
  std::unique_lock lock(lock_);
  const std::set<std::int64_t> pids = pids_;
  lock.unlock();
  session_.follow(pids);
  session_.sample_if_due();
  end_.see(pids, session_.last_sample(), monotonic_now_ns());
  return session_.wait_ms();
}

}  // namespace vramscope
