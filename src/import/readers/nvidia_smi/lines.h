#pragma once
// The lines of a log in UTF-8, whatever the file has: UTF-16 with a mark, NUL bytes between, CRLF, and text quoted with
// "> " as mails and threads have it. Not thread-safe.
#include <cstdint>
#include <string>
#include <string_view>

#include "import/byte_stream.h"
#include "import/reader.h"
#include "import/readers/memory_log/utf8_stream.h"

namespace vramscope::nvidia_smi {

struct Line {
  std::string_view text;  // without its end and without quoting; good until the next call
  std::int64_t offset = 0;
  bool has_end = false;  // false: the file ended in place of the line
};

// Removes NUL bytes, a "\r" at the end and "> " at the front. True when there were NUL bytes.
bool clean_line(std::string& line);

class Lines {
 public:
  Lines(ByteStream& stream, const Progress& progress) : stream_(stream), progress_(progress), text_(stream) {}

  bool next(Line& line);
  std::int64_t bytes() const { return base_ + static_cast<std::int64_t>(buffer_.size()); }
  std::int64_t nul_lines() const { return nul_lines_; }
  std::int64_t first_nul() const { return first_nul_; }
  std::int64_t long_lines() const { return long_lines_; }
  std::int64_t first_long() const { return first_long_; }

 private:
  static constexpr std::size_t kLongest = std::size_t{1} << 20;  // longer ones come in pieces
  bool fill();

  ByteStream& stream_;
  const Progress& progress_;
  memory_log::Utf8Stream text_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::int64_t base_ = 0;  // offset of the buffer's first byte
  bool is_over_ = false;
  std::string line_;
  std::int64_t nul_lines_ = 0, first_nul_ = 0;
  std::int64_t long_lines_ = 0, first_long_ = 0;
};

}  // namespace vramscope::nvidia_smi
