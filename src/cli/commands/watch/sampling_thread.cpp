#include "cli/commands/watch/sampling_thread.h"

#include <chrono>

namespace vramscope {

SamplingThread::~SamplingThread() {
  if (thread_.joinable()) thread_.join();
}

void SamplingThread::start() {
  thread_ = std::thread([this] { run(); });
}

void SamplingThread::follow(std::set<std::int64_t> pids) {
  const std::lock_guard lock(lock_);
  pids_ = std::move(pids);
}

bool SamplingThread::stop(std::int64_t limit_ns) {
  {
    std::unique_lock lock(lock_);
    is_stopping_ = true;
    changed_.notify_all();
    const auto is_over = [this] { return has_stopped_; };
    if (!changed_.wait_for(lock, std::chrono::nanoseconds(limit_ns), is_over)) {
      thread_.detach();
      return false;
    }
  }
  thread_.join();
  return true;
}

void SamplingThread::run() {
  std::unique_lock lock(lock_);
  while (!is_stopping_) {
    const std::set<std::int64_t> pids = pids_;
    lock.unlock();
    session_.follow(pids);
    session_.sample_if_due();
    end_.see(pids, session_.last_sample(), monotonic_now_ns());
    const auto wait = std::chrono::milliseconds(session_.wait_ms());
    lock.lock();
    changed_.wait_for(lock, wait, [this] { return is_stopping_; });
  }
  has_stopped_ = true;
  changed_.notify_all();
}

}  // namespace vramscope
