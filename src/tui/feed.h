#pragma once
// The devices, looked at on a thread of their own, and the scene that comes of it. A call of the driver that hangs
// holds up neither the keys nor what is drawn.
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "monitor/alert_rule.h"
#include "monitor/alert_state.h"
#include "monitor/monitor.h"
#include "sampling/rhythm_thread.h"
#include "sampling/sampler.h"
#include "tui/scene_builder.h"

namespace vramscope::tui {

struct FeedOptions {
  SamplerOptions sampler;
  std::vector<AlertRule> rules;
  std::string source;             // of what is played back, for the screen
  std::function<void()> on_news;  // called on the feed's thread after each change of the scene
};

// Whose details are shown.
struct DetailsRequest {
  ProcessKey key;
  std::string device_uuid;
  bool with_environment = false;
  bool operator==(const DetailsRequest&) const = default;
};

class Feed {
 public:
  // Devices that cannot be opened are tried again after this time.
  static constexpr int kRetryMs = 5000;

  explicit Feed(FeedOptions options);
  void start() { thread_.start(); }
  // See RhythmThread::stop().
  bool stop(std::int64_t limit_ns) { return thread_.stop(limit_ns); }

  // Waits until the devices have been opened, or could not be: the Error then. Empty after `limit_ns`, too.
  std::optional<Error> wait_for_opening(std::int64_t limit_ns);
  // Calls `look(scene)`; the scene does not change meanwhile, so it should be quick.
  template <typename Look>
  void read(Look&& look) {
    const std::lock_guard lock(lock_);
    look(builder_.scene());
  }
  void set_zoom(std::size_t zoom);
  void set_details(std::optional<DetailsRequest> request);
  // How long a call of the driver has lasted that has not come back and should have.
  std::optional<std::int64_t> silent_ns() const;

 private:
  int step();
  bool open();
  void take_requests();
  void take_sample();
  int wait_ms() const;

  FeedOptions options_;
  std::unique_ptr<Sampler> sampler_;  // of the thread
  Monitor monitor_;                   // of the thread
  std::unique_ptr<AlertWatch> alerts_;
  const LiveSample* sample_ = nullptr;
  bool is_over_ = false;
  std::optional<DetailsRequest> shown_details_;

  std::mutex lock_;  // of what follows
  SceneBuilder builder_;
  std::size_t zoom_ = 1;
  std::optional<DetailsRequest> details_;
  std::optional<Error> opening_error_;
  bool has_tried_opening_ = false;
  std::condition_variable opened_;
  std::atomic<std::int64_t> asked_ns_{0};  // since when the driver is at work; 0: it is not
  RhythmThread thread_{[this] { return step(); }};
};

}  // namespace vramscope::tui
