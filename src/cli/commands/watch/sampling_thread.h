#pragma once
// Samples on a thread of its own: a call of the driver that hangs never holds up the program that is watched.
#include <cstdint>
#include <mutex>
#include <set>

#include "cli/commands/watch/session.h"
#include "monitor/end_watch.h"
#include "sampling/rhythm_thread.h"

namespace vramscope {

// The session and the end watch belong to the thread from start() until stop() has returned true. Where it returns
// false the driver holds the thread: both stay the thread's for ever and must outlive the process.
class SamplingThread {
 public:
  SamplingThread(WatchSession& session, EndWatch& end) : session_(session), end_(end) {}

  void start() { thread_.start(); }
  // Until it has looked once, and no longer than this.
  void wait_for_first(std::int64_t limit_ns) { thread_.wait_for_first(limit_ns); }
  // The processes to follow from the next sample on.
  void follow(std::set<std::int64_t> pids);
  bool stop(std::int64_t limit_ns) { return thread_.stop(limit_ns); }

 private:
  int step();

  WatchSession& session_;
  EndWatch& end_;
  std::mutex lock_;
  std::set<std::int64_t> pids_;
  RhythmThread thread_{[this] { return step(); }};
};

}  // namespace vramscope
