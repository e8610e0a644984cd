#pragma once
// Takes alerts' events to the channels that want them, and never waits for one.
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "model/alert.h"
#include "notify/outbox.h"

namespace vramscope {

// The notice of an event. For the thread that prints: see report/alert_message.h.
Notice notice_of(const AlertEvent& event);

class Dispatcher {
 public:
  // `report` is called by threads of the channels, and by the one that posts; one call at a time.
  Dispatcher(NotifySettings settings, OutboxOptions options, std::function<void(const ChannelReport&)> report);

  // The channel's number, by which events are posted; the same for the same words. An Error is one sentence.
  Result<std::size_t> open(const std::string& written);
  std::size_t channels() const { return outboxes_.size(); }
  const std::string& channel(std::size_t number) const { return outboxes_[number]->channel(); }
  void post(const AlertEvent& event, const std::vector<std::size_t>& channels);
  // Tries what is waiting, all channels together for at most `limit` and a second or two, and tells what was not
  // delivered. Nothing can be posted after it.
  std::vector<Undelivered> close(std::chrono::milliseconds limit);
  std::size_t delivered() const;

 private:
  NotifySettings settings_;
  OutboxOptions options_;
  std::mutex report_lock_;
  std::function<void(const ChannelReport&)> report_;
  std::vector<std::string> written_;
  std::vector<std::unique_ptr<Outbox>> outboxes_;
};

// "mail:me@example.org did not get the notice \"…\": …."
std::string undelivered_sentence(const Undelivered& notice);

}  // namespace vramscope
