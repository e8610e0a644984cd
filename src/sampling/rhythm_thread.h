#pragma once
// Work in steps on a thread of its own: a call of the driver that hangs holds up nobody else.
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace vramscope {

class RhythmThread {
 public:
  // `step` is called again and again; it returns how many milliseconds to wait before the next call.
  explicit RhythmThread(std::function<int()> step) : step_(std::move(step)) {}
  ~RhythmThread();

  void start();
  // Until the first step is done, and no longer than this.
  void wait_for_first(std::int64_t limit_ns);
  // The wait at hand, or the next one, is over at once.
  void wake();
  // True: the thread has ended. False: a step did not come back in time; the thread keeps this object and all that the
  // step uses for ever, so both must outlive the process.
  bool stop(std::int64_t limit_ns);

 private:
  void run();

  std::function<int()> step_;
  std::mutex lock_;
  std::condition_variable changed_;
  bool has_stepped_ = false;
  bool is_awake_ = false;
  bool is_stopping_ = false;
  bool has_stopped_ = false;
  std::thread thread_;
};

}  // namespace vramscope
