#include "sampling/rhythm_thread.h"

#include <chrono>
#include <utility>

namespace vramscope {

RhythmThread::~RhythmThread() {
  if (thread_.joinable()) thread_.join();
}

void RhythmThread::start() {
  thread_ = std::thread([this] { run(); });
}

void RhythmThread::wait_for_first(std::int64_t limit_ns) {
  std::unique_lock lock(lock_);
  changed_.wait_for(lock, std::chrono::nanoseconds(limit_ns), [this] { return has_stepped_; });
}

void RhythmThread::wake() {
  const std::lock_guard lock(lock_);
  is_awake_ = true;
  changed_.notify_all();
}

bool RhythmThread::stop(std::int64_t limit_ns) {
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

void RhythmThread::run() {
  std::unique_lock lock(lock_);
  while (!is_stopping_) {
    lock.unlock();
    const auto wait = std::chrono::milliseconds(step_());
    lock.lock();
    if (!std::exchange(has_stepped_, true)) changed_.notify_all();
    changed_.wait_for(lock, wait, [this] { return is_stopping_ || is_awake_; });
    is_awake_ = false;
  }
  has_stopped_ = true;
  changed_.notify_all();
}

}  // namespace vramscope
