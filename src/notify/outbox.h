#pragma once
// Takes notices to one channel in a thread of its own, so that a slow or dead channel holds up nothing else.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "notify/channel.h"

namespace vramscope {

struct OutboxOptions {
  // After the first failure, the second, …; the last one again and again.
  std::vector<std::chrono::milliseconds> back_off = {std::chrono::seconds(5), std::chrono::seconds(30),
                                                     std::chrono::minutes(2), std::chrono::minutes(10),
                                                     std::chrono::minutes(30)};
  std::chrono::milliseconds give_up_after = std::chrono::hours(24);
  std::size_t most_waiting = 64;
};

enum class ChannelNews : std::uint8_t {
  failing,   // or failing for another reason; it is tried again
  refused,   // this notice is given up, for another try cannot help
  given_up,  // this notice has waited too long
  dropped,   // too many were waiting: the oldest is gone
  working    // again
};

struct ChannelReport {
  ChannelNews news = ChannelNews::failing;
  std::string channel;  // as it may be shown
  std::string subject;  // of the notice
  std::string reason;   // of failing, refused and given_up
};
// One line for people.
std::string report_sentence(const ChannelReport& report);

// A notice that did not get there.
struct Undelivered {
  std::string channel;
  std::string subject;
  std::string reason;  // empty: it was not tried
};

class Outbox {
 public:
  // `report` is called once for each change, by the outbox's thread; of a dropped notice by the one that posts.
  Outbox(OpenChannel channel, OutboxOptions options, std::function<void(const ChannelReport&)> report);
  ~Outbox();  // close(0)
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  // Does not wait. A notice that waits for the same alert is replaced.
  void post(Notice notice);
  // Tries what is waiting at once, for at most `limit`; then ends the thread. What was not delivered.
  std::vector<Undelivered> close(std::chrono::milliseconds limit);
  const std::string& channel() const { return channel_.shown; }
  std::size_t delivered() const;

 private:
  struct Entry {
    Notice notice;
    std::int64_t first_ns = 0;
    std::int64_t due_ns = 0;
    std::size_t tries = 0;
    std::string reason;
  };

  void work();
  // The next that is due; empty when the thread must end.
  std::optional<Entry> next();
  void put_back(Entry entry, const DeliveryProblem& problem);
  void tell(ChannelNews news, const std::string& subject, const std::string& reason);

  OpenChannel channel_;
  OutboxOptions options_;
  std::function<void(const ChannelReport&)> report_;
  Deadline deadline_ns_;

  mutable std::mutex lock_;
  std::condition_variable changed_;
  std::deque<Entry> waiting_;  // oldest first
  bool is_closing_ = false;
  std::size_t delivered_ = 0;
  std::vector<Undelivered> lost_at_close_;
  // Of the thread alone.
  std::string last_cause_;  // empty: working
  std::thread thread_;
};

}  // namespace vramscope
