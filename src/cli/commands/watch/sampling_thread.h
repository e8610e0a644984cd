#pragma once
// Samples on a thread of its own: a call of the driver that hangs never holds up the program that is watched, nor the
// end of the watch.
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>

#include "cli/commands/watch/session.h"
#include "monitor/end_watch.h"
#include "sampling/rhythm_thread.h"
#include "system/files.h"

namespace vramscope {

// The session and the end watch belong to the thread from start() until stop() has returned true. Where it returns
// false the driver holds the thread: all that it uses must outlive the process, see WatchSession::take_over().
class SamplingThread {
 public:
  // `end`: null where no program or process is watched. `duration_ns`: time of the devices after which there is nothing
  // more to look at; 0: none.
  SamplingThread(WatchSession& session, EndWatch* end, std::int64_t duration_ns = 0);

  void start() { thread_.start(); }
  // Until it has looked once, and no longer than this.
  void wait_for_first(std::int64_t limit_ns) { thread_.wait_for_first(limit_ns); }
  // The processes to follow from the next sample on.
  void follow(std::set<std::int64_t> pids);
  // For poll(2): readable when there is nothing more to look at.
  int descriptor() const { return over_.get(); }
  bool stop(std::int64_t limit_ns) { return thread_.stop(limit_ns); }

 private:
  int step();

  WatchSession& session_;
  EndWatch* end_;
  std::int64_t duration_ns_;
  Descriptor over_;
  bool is_over_ = false;
  std::mutex lock_;
  std::optional<std::set<std::int64_t>> pids_;
  RhythmThread thread_{[this] { return step(); }};
};

}  // namespace vramscope
