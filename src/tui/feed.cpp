#include "tui/feed.h"

#include <algorithm>
#include <chrono>

#include "system/host.h"
#include "tui/process_facts.h"

namespace vramscope::tui {

Feed::Feed(FeedOptions options) : options_(std::move(options)), builder_(options_.source, options_.sampler.roots) {
  if (options_.rules.empty()) return;
  alerts_ = std::make_unique<AlertWatch>(options_.rules, read_machine(options_.sampler.roots).host_name.value_or(""));
}

std::optional<Error> Feed::wait_for_opening(std::int64_t limit_ns) {
  std::unique_lock lock(lock_);
  opened_.wait_for(lock, std::chrono::nanoseconds(limit_ns), [this] { return has_tried_opening_; });
  return opening_error_;
}

void Feed::set_zoom(std::size_t zoom) {
  {
    const std::lock_guard lock(lock_);
    if (zoom == zoom_) return;
    zoom_ = zoom;
  }
  thread_.wake();
}

void Feed::set_details(std::optional<DetailsRequest> request) {
  {
    const std::lock_guard lock(lock_);
    if (request == details_) return;
    details_ = std::move(request);
  }
  thread_.wake();
}

std::optional<std::int64_t> Feed::silent_ns() const {
  constexpr std::int64_t kPatienceNs = 2'000'000'000;
  const std::int64_t asked_ns = asked_ns_;
  if (asked_ns == 0) return std::nullopt;
  const std::int64_t silent_ns = monotonic_now_ns() - asked_ns;
  return silent_ns >= kPatienceNs ? std::optional(silent_ns) : std::nullopt;
}

bool Feed::open() {
  asked_ns_ = monotonic_now_ns();
  auto sampler = open_sampler(options_.sampler);
  asked_ns_ = 0;
  {
    const std::lock_guard lock(lock_);
    has_tried_opening_ = true;
    opening_error_.reset();
    if (sampler) {
      sampler_ = std::move(*sampler);
    } else {
      opening_error_ = sampler.error();
      builder_.set_problem(sampler.error().message);
    }
  }
  opened_.notify_all();
  return sampler_ != nullptr;
}

void Feed::take_requests() {
  std::optional<DetailsRequest> details;
  {
    const std::lock_guard lock(lock_);
    builder_.set_zoom(zoom_, monitor_);
    details = details_;
  }
  if (details == shown_details_) return;
  shown_details_ = details;
  std::optional<SceneDetails> read;
  if (details) {
    const HostProcess* host = sample_ != nullptr ? sample_->find(details->key.pid) : nullptr;
    read = read_details(details->key, host, details->with_environment, options_.sampler.roots);
    read->device_uuid = details->device_uuid;
  }
  const std::lock_guard lock(lock_);
  builder_.set_details(std::move(read), monitor_);
}

void Feed::take_sample() {
  asked_ns_ = monotonic_now_ns();
  sample_ = sampler_->sample();
  asked_ns_ = 0;
  if (sample_ == nullptr) {
    is_over_ = true;
    const std::lock_guard lock(lock_);
    builder_.set_end();
    return;
  }
  monitor_.add(*sample_);
  AlertNews news;
  if (alerts_ != nullptr) news = alerts_->add(*sample_, monitor_);
  const std::lock_guard lock(lock_);
  builder_.add(*sample_, monitor_, news.events);
}

int Feed::step() {
  if (sampler_ == nullptr && !open()) {
    options_.on_news();
    return kRetryMs;
  }
  take_requests();
  if (!is_over_ && sampler_->due_ns() <= monotonic_now_ns()) take_sample();
  options_.on_news();
  return wait_ms();
}

int Feed::wait_ms() const {
  constexpr std::int64_t kMostMs = 60'000;
  if (is_over_) return kMostMs;
  const std::int64_t left_ns = sampler_->due_ns() - monotonic_now_ns();
  // What is played back without waiting leaves the lock free for a moment.
  const std::int64_t least_ms = sampler_->is_played_back() ? 1 : 0;
  return static_cast<int>(std::clamp<std::int64_t>((left_ns + 999'999) / 1'000'000, least_ms, kMostMs));
}

}  // namespace vramscope::tui
