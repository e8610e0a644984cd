#pragma once
// Samples on a thread of its own: a call of the driver that hangs never holds up the program that is watched.
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "cli/commands/watch/session.h"
#include "monitor/end_watch.h"

namespace vramscope {

// The session and the end watch belong to the thread from start() until stop() has returned true. Where it returns
// false the driver holds the thread: both stay the thread's for ever and must outlive the process.
class SamplingThread {
 public:
  SamplingThread(WatchSession& session, EndWatch& end) : session_(session), end_(end) {}
  ~SamplingThread();

  void start();
  // The processes to follow from the next sample on.
  void follow(std::set<std::int64_t> pids);
  bool stop(std::int64_t limit_ns);

 private:
  void run();

  WatchSession& session_;
  EndWatch& end_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::set<std::int64_t> pids_;
  bool is_stopping_ = false;
  bool has_stopped_ = false;
  std::thread thread_;
};

}  // namespace vramscope
