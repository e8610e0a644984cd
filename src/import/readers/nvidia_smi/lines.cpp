#include "import/readers/nvidia_smi/lines.h"

#include <algorithm>

namespace vramscope::nvidia_smi {

bool clean_line(std::string& line) {
  const std::size_t before = line.size();
  line.erase(std::remove(line.begin(), line.end(), '\0'), line.end());
  const bool had_nul = line.size() != before;
  while (!line.empty() && line.back() == '\r') line.pop_back();
  std::size_t quoted = 0;
  while (quoted < line.size() && line[quoted] == '>') {
    ++quoted;
    if (quoted < line.size() && line[quoted] == ' ') ++quoted;
  }
  line.erase(0, quoted);
  return had_nul;
}

bool Lines::fill() {
  if (is_over_) return false;
  if (at_ > 0) {
    base_ += static_cast<std::int64_t>(at_);
    buffer_.erase(0, at_);
    at_ = 0;
  }
  constexpr std::size_t kPiece = 64 * 1024;
  const std::size_t before = buffer_.size();
  buffer_.resize(before + kPiece);
  const std::size_t got = text_.read(buffer_.data() + before, kPiece);
  buffer_.resize(before + got);
  is_over_ = got == 0;
  if (progress_) progress_(stream_.consumed(), stream_.file_size());
  return got > 0;
}

bool Lines::next(Line& line) {
  std::size_t looked = 0;
  std::size_t end = std::string::npos;
  for (;;) {
    end = buffer_.find('\n', at_ + looked);
    if (end != std::string::npos) break;
    looked = buffer_.size() - at_;
    if (looked >= kLongest || !fill()) break;
  }
  if (at_ == buffer_.size()) return false;
  const std::size_t whole = (end == std::string::npos ? buffer_.size() : end) - at_;
  const std::size_t size = std::min(whole, kLongest);
  line.offset = base_ + static_cast<std::int64_t>(at_);
  line.has_end = size == whole && end != std::string::npos;
  line_.assign(buffer_, at_, size);
  at_ += size + (line.has_end ? 1 : 0);
  if (!line.has_end && size == kLongest && ++long_lines_ == 1) first_long_ = line.offset;
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (line.offset == 0 && line_.compare(0, kMark.size(), kMark) == 0) line_.erase(0, kMark.size());
  if (clean_line(line_) && ++nul_lines_ == 1) first_nul_ = line.offset;
  line.text = line_;
  return true;
}

}  // namespace vramscope::nvidia_smi
