#include "notify/outbox.h"

#include <signal.h>

#include <algorithm>
#include <limits>

#include "fmt/format.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

std::int64_t in_ns(std::chrono::milliseconds time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

}  // namespace

std::string report_sentence(const ChannelReport& report) {
  const char* text = "";
  switch (report.news) {
    case ChannelNews::failing:
      text = tr("{channel} does not take notices: {reason}. It is tried again.");
      break;
    case ChannelNews::refused:
      text = tr("{channel} did not take the notice \"{subject}\": {reason}.");
      break;
    case ChannelNews::given_up:
      text = tr("{channel} was tried for too long, the notice \"{subject}\" is given up: {reason}.");
      break;
    case ChannelNews::dropped:
      text = tr("{channel}: too many notices wait, the oldest one, \"{subject}\", is dropped.");
      break;
    case ChannelNews::working:
      text = tr("{channel} takes notices again.");
      break;
  }
  return fmt::format(fmt::runtime(text), fmt::arg("channel", report.channel), fmt::arg("subject", report.subject),
                     fmt::arg("reason", report.reason));
}

Outbox::Outbox(OpenChannel channel, OutboxOptions options, std::function<void(const ChannelReport&)> report)
    : channel_(std::move(channel)),
      options_(std::move(options)),
      report_(std::move(report)),
      deadline_ns_(std::numeric_limits<std::int64_t>::max()) {
  // Signals are for the threads of the watch; this one must not be the one that gets them.
  sigset_t all, kept;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &kept);
  thread_ = std::thread([this] { work(); });
  pthread_sigmask(SIG_SETMASK, &kept, nullptr);
}

Outbox::~Outbox() {
  close(std::chrono::milliseconds(0));
}

void Outbox::post(Notice notice) {
  std::string dropped;
  {
    const std::lock_guard<std::mutex> guard(lock_);
    if (is_closing_) return;
    const std::int64_t now = steady_now_ns();
    const auto same = std::find_if(waiting_.begin(), waiting_.end(),
                                   [&](const Entry& entry) { return entry.notice.key == notice.key; });
    if (same != waiting_.end()) {
      same->notice = std::move(notice);
      same->first_ns = same->due_ns = now;
    } else {
      if (waiting_.size() >= options_.most_waiting) {
        dropped = waiting_.front().notice.subject;
        waiting_.pop_front();
      }
      Entry entry;
      entry.notice = std::move(notice);
      entry.first_ns = entry.due_ns = now;
      waiting_.push_back(std::move(entry));
    }
  }
  changed_.notify_all();
  if (!dropped.empty()) tell(ChannelNews::dropped, dropped, {});
}

std::vector<Undelivered> Outbox::close(std::chrono::milliseconds limit) {
  if (thread_.joinable()) {
    {
      const std::lock_guard<std::mutex> guard(lock_);
      is_closing_ = true;
      const std::int64_t now = steady_now_ns();
      deadline_ns_ = now + in_ns(limit);
      for (Entry& entry : waiting_) entry.due_ns = now;
    }
    changed_.notify_all();
    thread_.join();
  }
  std::vector<Undelivered> undelivered = std::move(lost_at_close_);
  lost_at_close_.clear();
  for (Entry& entry : waiting_) undelivered.push_back({channel_.shown, entry.notice.subject, entry.reason});
  waiting_.clear();
  return undelivered;
}

std::size_t Outbox::delivered() const {
  const std::lock_guard<std::mutex> guard(lock_);
  return delivered_;
}

std::optional<Outbox::Entry> Outbox::next() {
  std::unique_lock<std::mutex> guard(lock_);
  while (true) {
    const std::int64_t now = steady_now_ns();
    if (is_closing_ && (waiting_.empty() || now > deadline_ns_)) return std::nullopt;
    const auto first = std::min_element(waiting_.begin(), waiting_.end(),
                                        [](const Entry& a, const Entry& b) { return a.due_ns < b.due_ns; });
    if (first == waiting_.end()) {
      changed_.wait(guard);
    } else if (first->due_ns <= now) {
      Entry entry = std::move(*first);
      waiting_.erase(first);
      return entry;
    } else {
      changed_.wait_for(guard, std::chrono::nanoseconds(first->due_ns - now));
    }
  }
}

void Outbox::work() {
  while (auto entry = next()) {
    std::optional<DeliveryProblem> problem;
    try {
      problem = channel_.channel->deliver(entry->notice, deadline_ns_);
    } catch (const std::exception& error) {
      problem = DeliveryProblem{error.what(), false};
    }
    if (problem) {
      put_back(std::move(*entry), *problem);
      continue;
    }
    {
      // It works: what waits need not wait longer.
      const std::lock_guard<std::mutex> guard(lock_);
      ++delivered_;
      const std::int64_t now = steady_now_ns();
      for (Entry& other : waiting_) other.due_ns = std::min(other.due_ns, now);
    }
    if (!last_cause_.empty()) tell(ChannelNews::working, entry->notice.subject, {});
    last_cause_.clear();
  }
}

void Outbox::put_back(Entry entry, const DeliveryProblem& problem) {
  const std::int64_t now = steady_now_ns();
  entry.reason = problem.sentence;
  std::unique_lock<std::mutex> guard(lock_);
  // While it was being tried a newer one may have come.
  const bool is_outdated = std::any_of(waiting_.begin(), waiting_.end(),
                                       [&](const Entry& other) { return other.notice.key == entry.notice.key; });
  const bool is_late = now - entry.first_ns >= in_ns(options_.give_up_after);
  const bool is_closing = is_closing_;
  const std::string subject = entry.notice.subject;
  if (is_closing) {
    // One try is what there is time for, and its end tells why.
    if (!is_outdated) lost_at_close_.push_back({channel_.shown, subject, problem.sentence});
    return;
  }
  if (!problem.is_permanent && !is_late && !is_outdated) {
    const std::size_t step = std::min(entry.tries, options_.back_off.size() - 1);
    ++entry.tries;
    entry.due_ns = now + in_ns(options_.back_off[step]);
    waiting_.push_front(std::move(entry));
  }
  guard.unlock();
  if (problem.is_permanent) {
    tell(ChannelNews::refused, subject, problem.sentence);
  } else if (is_late && !is_outdated) {
    tell(ChannelNews::given_up, subject, problem.sentence);
  } else if (const std::string& cause = problem.cause.empty() ? problem.sentence : problem.cause;
             last_cause_ != cause) {
    tell(ChannelNews::failing, subject, problem.sentence);
    last_cause_ = cause;
  }
}

void Outbox::tell(ChannelNews news, const std::string& subject, const std::string& reason) {
  if (report_) report_({news, channel_.shown, subject, reason});
}

}  // namespace vramscope
