#pragma once
// For verbs that ask the driver on their own thread: says that it does not answer while somebody waits for it, and ends
// the program when it is asked to end meanwhile. `watch` and `top` look on a thread of their own instead.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "devices/backend.h"
#include "sampling/sampler.h"

namespace vramscope {

// A call that lasts so long is told of; some drivers need seconds to wake a GPU.
inline constexpr std::int64_t kSilenceNs = 5'000'000'000;
// Who asks to end waits no longer than this for the call at hand.
inline constexpr std::int64_t kLetGoNs = 1'000'000'000;

class DriverPatience {
 public:
  // A call of the driver, or several in a row, from here to the end of its scope. One at a time.
  class Call {
   public:
    explicit Call(DriverPatience& patience);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    DriverPatience& patience_;
  };

  // `asked_to_end`: the number of the signal that has asked for it, 0 while none has; called on another thread. Where
  // signals end the program by themselves it is left out.
  explicit DriverPatience(std::function<int()> asked_to_end = {});
  ~DriverPatience();
  DriverPatience(const DriverPatience&) = delete;
  DriverPatience& operator=(const DriverPatience&) = delete;

 private:
  void run();
  void look(std::int64_t now_ns);

  std::function<int()> asked_to_end_;
  std::atomic<std::int64_t> since_ns_{0};  // of the call at hand; 0: none
  std::int64_t told_ns_ = 0;               // the call that was told of
  std::int64_t asked_ns_ = 0;              // when we were first seen to be asked to end
  std::mutex lock_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_;
};

// As open_sampler(), with patience while it opens and at each sample.
Result<std::unique_ptr<Sampler>> open_patient_sampler(SamplerOptions options, std::function<int()> asked_to_end = {});

// As open_devices(), with patience for every call.
Result<std::unique_ptr<DeviceSource>> open_patient_devices(std::string_view device, std::function<int()> asked_to_end);

// The first of the signals that end a program that waits to be taken, 0 for none: for who has blocked them.
int pending_end_signal();

}  // namespace vramscope
