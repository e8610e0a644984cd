#include "import/readers/memory_log/line_window.h"

#include <algorithm>
#include <cstring>

#include "import/readers/memory_log/anchors.h"

namespace vramscope::memory_log {

void LineWindow::count_lines(std::size_t until) {
  lines_ += std::count(buffer_.data() + counted_, buffer_.data() + until, '\n');
  counted_ = until;
}

void LineWindow::fill() {
  if (buffer_.empty()) buffer_.resize_for_overwrite(kCapacity);
  const std::size_t drop = at_ > kBefore ? at_ - kBefore : 0;
  count_lines(std::max(counted_, drop));
  std::memmove(buffer_.data(), buffer_.data() + drop, end_ - drop);
  base_ += static_cast<std::int64_t>(drop);
  at_ -= drop;
  end_ -= drop;
  counted_ -= drop;
  const std::size_t got = text_.read(buffer_.data() + end_, buffer_.size() - end_);
  is_over_ = got < buffer_.size() - end_;
  end_ += got;
  if (progress_) progress_(stream_.consumed(), stream_.file_size());
}

std::size_t LineWindow::line_begin(std::size_t at) const {
  const char* const data = buffer_.data();
  while (at > at_ && data[at - 1] != '\n' && data[at - 1] != '\r') --at;
  return at;
}

std::size_t LineWindow::line_end(std::size_t begin) const {
  const std::size_t most = std::min(end_, begin + kLongest);
  const char* const data = buffer_.data();
  const char* const line_feed = static_cast<const char*>(std::memchr(data + begin, '\n', most - begin));
  const std::size_t end = line_feed == nullptr ? most : static_cast<std::size_t>(line_feed - data);
  const char* const back = static_cast<const char*>(std::memchr(data + begin, '\r', end - begin));
  return back == nullptr ? end : static_cast<std::size_t>(back - data);
}

bool LineWindow::next(bool every, Line& line) {
  while (true) {
    // A line and what is behind it must lie in the buffer.
    if (!is_over_ && end_ - at_ < kLongest + kAhead) fill();
    if (at_ >= end_) return false;
    const std::size_t safe_end = is_over_ ? end_ : end_ - kLongest - kAhead + 1;
    std::size_t begin = at_;
    if (!every) {
      const std::size_t anchor = find_anchor(text(), at_);
      if (anchor == std::string_view::npos || anchor >= safe_end) {
        if (is_over_) return false;
        // Nothing up to there; the line in progress stays, unless it is longer than any.
        const std::size_t keep = line_begin(safe_end);
        if (keep > at_) {
          at_ = keep;
        } else if (safe_end - at_ > kLongest) {
          at_ = safe_end;
        } else {
          fill();
        }
        continue;
      }
      begin = line_begin(anchor);
      if (anchor - begin >= kLongest) begin = anchor - kLongest / 2;
    }
    const std::size_t end = line_end(begin);
    count_lines(begin);
    line.text = text().substr(begin, end - begin);
    line.ahead = text().substr(begin, end - begin + kAhead);
    const std::size_t before = std::min(begin, kBefore);
    line.before = text().substr(begin - before, before);
    line.offset = base_ + static_cast<std::int64_t>(begin);
    line.number = lines_ + 1;
    const bool is_cut = end - begin == kLongest && end < end_;
    if (is_cut && long_lines_++ == 0) first_long_line_ = line.offset;
    at_ = is_cut || end == end_ ? end : end + 1;
    if (end < end_ && buffer_[end] == '\r' && at_ < end_ && buffer_[at_] == '\n') ++at_;
    return true;
  }
}

}  // namespace vramscope::memory_log
