#pragma once
// The lines of a text in which something may stand, in one pass and bounded memory, with what is near them. A line
// ends at "\n" or "\r"; one of more than 1 MiB is cut in pieces. Not thread-safe.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/column.h"
#include "import/reader.h"
#include "import/readers/memory_log/utf8_stream.h"

namespace vramscope::memory_log {

struct Line {
  std::string_view text;    // without its end
  std::string_view ahead;   // the line and up to 4 KiB behind it
  std::string_view before;  // up to 8 KiB in front of it
  std::int64_t offset = 0;
  std::int64_t number = 0;  // 1-based; "\r" alone begins no new number
};

class LineWindow {
 public:
  LineWindow(ByteStream& stream, const Progress& progress) : stream_(stream), progress_(progress), text_(stream) {}

  // The next line that has an anchor (anchors.h), or simply the next one when `every` is set; false at the end. The
  // views are good until the next call.
  bool next(bool every, Line& line);
  std::int64_t bytes() const { return base_ + static_cast<std::int64_t>(end_); }
  std::int64_t long_lines() const { return long_lines_; }
  std::int64_t first_long_line() const { return first_long_line_; }

 private:
  static constexpr std::size_t kLongest = std::size_t{1} << 20;
  static constexpr std::size_t kAhead = 4096;
  static constexpr std::size_t kBefore = 8192;
  static constexpr std::size_t kCapacity = std::size_t{8} << 20;

  std::string_view text() const { return {buffer_.data(), end_}; }
  void fill();
  std::size_t line_begin(std::size_t at) const;
  std::size_t line_end(std::size_t begin) const;
  void count_lines(std::size_t until);

  ByteStream& stream_;
  const Progress& progress_;
  Utf8Stream text_;
  Column<char> buffer_;
  std::size_t at_ = 0;   // begin of the next line
  std::size_t end_ = 0;  // of the text in the buffer
  bool is_over_ = false;
  std::int64_t base_ = 0;    // offset of the buffer's first byte
  std::size_t counted_ = 0;  // line ends before it are in lines_
  std::int64_t lines_ = 0;
  std::int64_t long_lines_ = 0;
  std::int64_t first_long_line_ = 0;
};

}  // namespace vramscope::memory_log
