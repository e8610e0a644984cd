#include "monitor/output_scan.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "import/readers/memory_log/failures.h"
#include "import/readers/memory_log/fields.h"
#include "import/readers/memory_log/line_window.h"
#include "import/readers/memory_log/wordings.h"
#include "text/word_search.h"

namespace vramscope {

namespace {

constexpr std::size_t kNowhere = std::string_view::npos;
constexpr std::size_t kLongestLine = 16 * 1024;
constexpr std::size_t kAhead = 4096;
constexpr std::size_t kBefore = 512;
constexpr int kLinesAhead = 8;

// Every line that means something here has one of them. Those of memory_log/anchors.cpp that its messages (not its
// tables) begin in, too.
constexpr std::array<std::string_view, 20> kWords = {"memory",    "alloc",     "kv cache", "killed",      "oom-kill",
                                                     "oom_kill",  "oomkilled", "inuse",    "cumemcreate", "error",
                                                     "exception", "fault",     "signal",   "exitcode",    "watchdog",
                                                     "traceback", "_status_",  "abort",    "assertion",   "terminated"};
constexpr WordSearch kSearch(kWords);

std::size_t find_line_end(std::string_view text, std::size_t from) {
  const std::size_t feed = std::min(text.find('\n', from), text.size());
  const std::size_t carriage = text.substr(0, feed).find('\r', from);
  return carriage == kNowhere ? feed : carriage;
}

std::int64_t count_lines(std::string_view text) {
  std::int64_t count = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end && (at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at))))) {
    ++count;
    ++at;
  }
  return count;
}

// As a terminal shows it in the end: what was written over is gone.
std::string shown_line(std::string_view line) {
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  const std::size_t over = line.rfind('\r');
  if (over != kNowhere) line.remove_prefix(over + 1);
  line = line.substr(0, 2 * kSignBytes);
  return memory_log::without_escapes(line).substr(0, kSignBytes);
}

}  // namespace

class OutputScan::Stream {
 public:
  Stream(OutputScan& scan, int number) : scan_(scan), number_(number) { restart(); }

  void feed(std::string_view bytes, std::int64_t time_ns) {
    time_ns_ = time_ns;
    keep_last(bytes);
    const std::size_t end = find_line_end(bytes, 0);
    if (end == bytes.size()) return carry(bytes);
    // The line that began earlier, then those that are whole here, then the begin of the next.
    const bool is_whole = end < kLongestLine;
    carry(bytes.substr(0, end + (is_whole ? 1 : 0)));
    scan(std::exchange(carried_, {}));
    if (!is_whole && bytes[end] == '\n') ++lines_;
    const std::size_t last = bytes.find_last_of("\r\n");
    scan(bytes.substr(end + 1, last - end));
    carry(bytes.substr(last + 1));
  }

  void finish() {
    if (!carried_.empty()) scan(carried_ + '\n');
    carried_.clear();
    while (!pending_.empty()) judge_first();
  }

  std::int64_t lines() const { return lines_ + (open_line_.empty() ? 0 : 1); }
  // What is written on the line that has not ended.
  std::string open_line() const { return shown_line(open_line_); }
  const std::vector<OutputOom>& older() const { return older_; }
  const std::vector<OutputOom>& recent() const { return recent_; }

 private:
  // A line that may be a message, until those behind it are here that the message may go on in.
  struct Pending {
    std::string line, ahead, before;
    std::int64_t number = 0;
    std::int64_t time_ns = 0;
    int missing = kLinesAhead;
  };

  void restart() {
    older_ = std::exchange(recent_, {});
    found_.clear();
    failures_ = std::make_unique<memory_log::Failures>(found_);
  }

  void carry(std::string_view bytes) {
    carried_ += bytes.substr(0, std::min(bytes.size(), 2 * kLongestLine));
    if (carried_.size() < kLongestLine || carried_.back() == '\n' || carried_.back() == '\r') return;
    scan(carried_);  // no text; what it holds is looked at in pieces
    carried_.clear();
  }

  // For last_lines().
  void keep_last(std::string_view bytes) {
    std::size_t begin = bytes.rfind('\n');
    const std::string_view rest = bytes.substr(begin == kNowhere ? 0 : begin + 1);
    const std::string_view kept = rest.substr(rest.size() - std::min(rest.size(), kLongestLine));
    if (begin == kNowhere) {
      if (open_line_.size() + kept.size() > 2 * kLongestLine) open_line_.erase(0, open_line_.size() / 2);
      open_line_ += kept;
      return;
    }
    std::size_t ends[kLastLines];
    std::size_t count = 0;
    for (; begin != kNowhere && count < kLastLines; begin = begin == 0 ? kNowhere : bytes.rfind('\n', begin - 1)) {
      ends[count++] = begin;
    }
    const bool is_first_here = begin == kNowhere;  // its begin came with earlier bytes
    for (std::size_t at = is_first_here ? 0 : begin + 1; count > 0; at = ends[count] + 1) {
      const std::string_view line = bytes.substr(at, ends[--count] - at);
      const bool is_open = at == 0 && is_first_here;
      scan_.last_lines_.push_back(shown_line(is_open ? open_line_.append(line.substr(0, kLongestLine)) : line));
      if (scan_.last_lines_.size() > kLastLines) scan_.last_lines_.pop_front();
    }
    open_line_ = std::string(kept);
  }

  bool is_attentive() const { return !pending_.empty() || tracebacks_.is_open(); }

  void scan(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
      std::size_t begin = at;
      if (!is_attentive()) {
        const std::size_t hit = kSearch.find(text, at);
        if (hit == kNowhere) break;
        const std::size_t end_before = text.substr(0, hit).find_last_of("\r\n");
        if (end_before != kNowhere) begin = std::max(at, end_before + 1);
        if (hit - begin > kLongestLine / 2) begin = hit - kLongestLine / 8;  // binary data
        lines_ += count_lines(text.substr(at, begin - at));
      }
      const std::size_t end = find_line_end(text, begin);
      take_line(text.substr(begin, std::min(end - begin, kLongestLine)), text, begin);
      if (end < text.size() && text[end] == '\n') ++lines_;
      at = end + 1;
    }
    if (at < text.size()) lines_ += count_lines(text.substr(at));
    before_ = before(text, text.size());
  }

  // Some of what stands in front of a place, of earlier pieces, too.
  std::string before(std::string_view text, std::size_t at) const {
    const std::string_view here = text.substr(at - std::min(at, kBefore), std::min(at, kBefore));
    const std::size_t missing = std::min(kBefore - here.size(), before_.size());
    return before_.substr(before_.size() - missing).append(here);
  }

  // `raw` begins in `text` at `begin`.
  void take_line(std::string_view raw, std::string_view text, std::size_t begin) {
    const std::int64_t number = lines_ + 1;
    std::string cleaned;
    std::string_view line = raw;
    if (raw.find('\033') != kNowhere) line = cleaned = memory_log::without_escapes(raw);
    for (Pending& pending : pending_) {
      pending.ahead.append(raw.substr(0, kAhead)).push_back('\n');
      --pending.missing;
    }
    while (!pending_.empty() && (pending_.front().missing == 0 || pending_.front().ahead.size() >= kAhead))
      judge_first();
    // A traceback quotes the line of source that made the message.
    const bool is_source = tracebacks_.is_open() && !line.empty() && line.front() == ' ';
    if (!is_source && (memory_log::may_hold_message(line) || line.find("InUse:") != kNowhere)) {
      pending_.push_back(
          {std::string(raw), std::string(raw) + '\n', before(text, begin), number, time_ns_, kLinesAhead});
    }
    if (tracebacks_.is_open() || Tracebacks::may_begin(line)) {
      if (auto sign = tracebacks_.feed(line, number)) add(std::move(*sign), number);
    }
    if (is_source || !may_hold_sign(line)) return;
    if (auto sign = read_sign(line, before(text, begin))) add(std::move(*sign), number);
  }

  void add(OutputSign sign, std::int64_t number) {
    sign.stream = number_;
    sign.line = number;
    sign.time_ns = time_ns_;
    scan_.add(std::move(sign));
  }

  void judge_first() {
    const Pending pending = std::move(pending_.front());
    pending_.pop_front();
    memory_log::Line line;
    line.text = pending.line;
    line.ahead = pending.ahead;
    line.before = pending.before;
    line.number = pending.number;
    const std::int64_t messages = failures_->messages();
    failures_->feed(line);
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (i == recent_.size()) recent_.push_back({found_[i], number_, pending.number, pending.time_ns});
      const bool is_told_again = recent_[i].event.count != found_[i].count;
      recent_[i].event = found_[i];
      if (!is_told_again && (failures_->messages() == messages || i + 1 < found_.size())) continue;
      recent_[i].last_line = pending.number;
      recent_[i].time_ns = pending.time_ns;
    }
    if (found_.size() >= kMostOoms / 2) restart();
  }

  OutputScan& scan_;
  int number_;
  std::int64_t time_ns_ = 0;
  std::int64_t lines_ = 0;  // that have ended
  std::string carried_;     // the line that has not
  std::string before_;      // the end of what was scanned
  std::string open_line_;   // since the last "\n", for last_lines()
  std::deque<Pending> pending_;
  Tracebacks tracebacks_;
  std::vector<OutOfMemory> found_;
  std::unique_ptr<memory_log::Failures> failures_;
  std::vector<OutputOom> recent_;  // parallel to found_
  std::vector<OutputOom> older_;
};

OutputScan::OutputScan() {
  for (int i = 0; i < 2; ++i) streams_[i] = std::make_unique<Stream>(*this, i + 1);
}
OutputScan::~OutputScan() = default;

void OutputScan::feed(int stream, std::string_view bytes, std::int64_t time_ns) {
  if (!bytes.empty()) streams_[stream == 2 ? 1 : 0]->feed(bytes, time_ns);
}

void OutputScan::finish() {
  for (const auto& stream : streams_) stream->finish();
}

void OutputScan::add(OutputSign sign) {
  if (!signs_.empty() && signs_.back().text == sign.text && signs_.back().kind == sign.kind) {
    sign.count = signs_.back().count + 1;
    signs_.back() = std::move(sign);
    return;
  }
  signs_.push_back(std::move(sign));
  if (signs_.size() > kMostSigns) signs_.pop_front();
}

std::vector<OutputOom> OutputScan::out_of_memory() const {
  std::vector<OutputOom> all;
  for (const auto& stream : streams_) {
    all.insert(all.end(), stream->older().begin(), stream->older().end());
    all.insert(all.end(), stream->recent().begin(), stream->recent().end());
  }
  return all;
}

std::vector<std::string> OutputScan::last_lines() const {
  std::vector<std::string> lines(last_lines_.begin(), last_lines_.end());
  for (const auto& stream : streams_) {
    std::string open = stream->open_line();
    if (!open.empty()) lines.push_back(std::move(open));
  }
  if (lines.size() > kLastLines) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kLastLines));
  return lines;
}

std::int64_t OutputScan::line_count(int stream) const {
  return streams_[stream == 2 ? 1 : 0]->lines();
}

}  // namespace vramscope
