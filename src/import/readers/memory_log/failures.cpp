#include "import/readers/memory_log/failures.h"

#include <algorithm>

#include "import/readers/memory_log/fields.h"

namespace vramscope::memory_log {

namespace {

constexpr std::size_t kMostEvents = 100'000;
constexpr std::size_t kMostText = 2048;
constexpr std::size_t kRecent = 16;         // events that a repeated message may belong to
constexpr std::int64_t kFarthest = 20'000;  // lines between two wordings of a failure: a dump of chunks lies between
constexpr std::int64_t kFarthestKill = 200;
constexpr std::int64_t kFarthestRetold = 40;  // a traceback may lie between
constexpr int kMostLinesAhead = 8;

// Up to the end of the eighth line.
std::string_view some_lines(std::string_view ahead) {
  std::size_t end = 0;
  for (int i = 0; i < kMostLinesAhead && end < ahead.size(); ++i) {
    end = std::min(ahead.find('\n', end), ahead.size());
    if (end < ahead.size()) ++end;
  }
  return ahead.substr(0, end);
}

bool is_arena(const OutOfMemory& event) {
  return event.framework == "tensorflow" || event.framework == "jax";
}

// Within a hundredth: one is rounded for reading.
bool is_near(const std::optional<std::int64_t>& a, const std::optional<std::int64_t>& b) {
  if (!a || !b) return true;
  const double difference = static_cast<double>(*a) - static_cast<double>(*b);
  return std::abs(difference) <= static_cast<double>(std::max(*a, *b)) / 100;
}

template <typename T>
void fill(std::optional<T>& value, const std::optional<T>& more) {
  if (!value) value = more;
}

}  // namespace

bool Failures::repeats(const Message& message, std::string_view text) {
  const std::size_t first = out_.size() > kRecent ? out_.size() - kRecent : 0;
  for (std::size_t i = out_.size(); i > first; --i) {
    OutOfMemory& event = out_[i - 1];
    if (event.text != text || event.framework != message.event.framework) continue;
    ++event.count;
    return true;
  }
  return false;
}

bool Failures::continues(const Message& message, const Line& line) {
  if (out_.empty() || message.tie == Tie::none) return false;
  OutOfMemory& last = out_.back();
  const OutOfMemory& event = message.event;
  const bool is_related = last.framework == event.framework || (is_arena(last) && is_arena(event));
  std::int64_t farthest = message.tie == Tie::same_kill ? kFarthestKill : kFarthest;
  if (message.tie == Tie::retold) farthest = kFarthestRetold;
  if (!is_related || line.number - last_line_ > farthest) return false;
  if (last.device && event.device && *last.device != *event.device) return false;
  if (message.tie == Tie::smaller_retry) {
    if (ties_.back() != Tie::smaller_retry || !last.asked_bytes || *event.asked_bytes >= *last.asked_bytes)
      return false;
    ++last.count;
    return true;
  }
  if (message.tie == Tie::same_failure) {
    if (ties_.back() == Tie::same_failure || !is_near(last.asked_bytes, event.asked_bytes)) return false;
    if (event.asked_bytes) last.asked_bytes = event.asked_bytes;
    if (event.framework == "jax") last.framework = "jax";
  }
  fill(last.device, event.device);
  fill(last.process_bytes, event.process_bytes);
  return true;
}

void Failures::add(Message message, std::string_view text, const Line& line) {
  ++messages_;
  std::string words(text.substr(message.begin, std::min(message.end - message.begin, kMostText)));
  while (!words.empty() && words.back() == ' ') words.pop_back();
  if (!repeats(message, words) && !continues(message, line)) {
    if (out_.size() >= kMostEvents) {
      if (trouble_.empty()) trouble_.push_back({"too_many_messages", 0, line.offset});
      ++trouble_.front().count;
      return;
    }
    OutOfMemory& event = message.event;
    event.text = std::move(words);
    event.allocator_settings = settings_.value();
    event.offset = line.offset;
    event.line = line.number;
    out_.push_back(std::move(event));
    ties_.push_back(message.tie);
  }
  last_line_ = line.number;
}

// The allocator of TensorFlow and JAX lists its state below its message: Limit, InUse, …, LargestFreeBlock.
void Failures::read_arena(const Line& line) {
  if (out_.empty() || !is_arena(out_.back()) || line.number - last_line_ > kFarthest) return;
  OutOfMemory& event = out_.back();
  const std::string_view text = trim(line.text);
  if (event.allowed_bytes || text.substr(0, 6) != "InUse:") return;
  event.allocated_bytes = integer_behind(text, "InUse:");
  constexpr std::string_view kLimit = "Limit:";
  const std::string_view before =
      line.before.substr(line.before.size() - std::min<std::size_t>(line.before.size(), 200));
  const std::size_t limit = before.rfind(kLimit);
  if (limit != std::string_view::npos) event.allowed_bytes = integer_behind(before.substr(limit), kLimit);
  // 0 where the allocator does not look.
  const auto hole = integer_behind(line.ahead.substr(0, 600), "LargestFreeBlock:");
  if (hole && *hole > 0) event.largest_hole_bytes = hole;
}

void Failures::feed(const Line& line) {
  if (contains(line.text, "InUse:")) read_arena(line);
  settings_.feed(line);
  const bool has_escapes = contains(line.text, "\033");
  if (!may_hold_message(has_escapes ? without_escapes(line.text) : std::string(line.text))) return;
  const std::string first = plain(line.text);
  const std::string text = plain(some_lines(line.ahead));
  MessageFinder finder(text, std::min(first.size(), text.size()));
  while (std::optional<Message> message = finder.next()) add(std::move(*message), text, line);
}

}  // namespace vramscope::memory_log
