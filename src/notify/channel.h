#pragma once
// A channel takes a notice to somebody. One .cpp in channels/ that defines `channel_<file name>()` adds one; it is
// written KIND:ADDRESS, as mail:me@example.org.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "notify/settings.h"

namespace vramscope {

// One message, ready to be sent. Made on the thread that prints.
struct Notice {
  std::string key;        // notices of one alert share it
  std::string incident;   // the same for all notices of one firing
  std::string id;         // of this notice alone; the same at each try
  std::string subject;    // one line
  std::string body;       // lines with "\n"
  std::string mail_body;  // the same with a curve of ASCII
  std::string json;
  bool is_urgent = false;
  std::int64_t real_time_ns = 0;
  std::vector<std::pair<std::string, std::string>> environment;  // VRAMSCOPE_ALERT_… for commands
};

// Why a notice did not get there. Never holds a password, nor the secret parts of an address.
struct DeliveryProblem {
  std::string sentence;       // in the user's language
  bool is_permanent = false;  // another try cannot help
  // The same for the same trouble, where the sentence holds times or the like; empty: the sentence itself.
  std::string cause = {};
};

// A delivery looks at it once a second at least, and gives up when it is past: CLOCK_MONOTONIC.
using Deadline = std::atomic<std::int64_t>;

class Channel {
 public:
  virtual ~Channel() = default;
  // Takes at most NotifySettings::total_timeout, and ends soon after `deadline_ns`. Called by one thread at a time,
  // never the one that opened it.
  virtual std::optional<DeliveryProblem> deliver(const Notice& notice, const Deadline& deadline_ns) = 0;
};

struct ChannelKind {
  const char* name;   // "mail"
  const char* form;   // "mail:ADDRESS"
  const char* about;  // English msgid, one line
  // `address`: what follows the colon; empty without. The Error is a sentence that says what to do.
  Result<std::unique_ptr<Channel>> (*open)(std::string_view address, const NotifySettings& settings);
  // The address as it may be shown.
  std::string (*shown)(std::string_view address);
};

const std::vector<ChannelKind>& channel_kinds();

struct OpenChannel {
  std::string written;  // as the user gave it
  std::string shown;    // "webhook:https://hooks.example.org/…"
  std::unique_ptr<Channel> channel;
};
// `written`: "mail:me@example.org", "desktop".
Result<OpenChannel> open_channel(std::string_view written, const NotifySettings& settings);
// How a channel may be shown; what is no channel, as it is.
std::string shown_channel(std::string_view written);

std::int64_t steady_now_ns();

}  // namespace vramscope
