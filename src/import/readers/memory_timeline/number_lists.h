#pragma once
// JSON that is nothing but nested lists of whole numbers, token by token, in bounded memory. Not thread-safe.
#include <cstdint>

#include "base/column.h"
#include "import/reader.h"

namespace vramscope::memory_timeline {

enum class Token : std::uint8_t {
  open,
  close,
  comma,
  number,
  end,        // of the text
  malformed,  // anything else; reading ends here
};

class NumberLists {
 public:
  NumberLists(ByteStream& stream, const Progress& progress) : stream_(stream), progress_(progress) {}

  // Moves on by one token. A number is in number(): saturated when it does not fit, and its fraction is dropped.
  Token next();
  std::int64_t number() const { return number_; }
  std::int64_t offset() const { return base_ + static_cast<std::int64_t>(at_); }

 private:
  bool refill();
  // The next byte, or -1 at the end.
  int peek() {
    if (at_ == buffer_.size() && !refill()) return -1;
    return static_cast<unsigned char>(buffer_[at_]);
  }
  Token take_number(bool is_negative);

  ByteStream& stream_;
  const Progress& progress_;
  Column<char> buffer_;
  std::size_t at_ = 0;
  std::int64_t base_ = 0;
  std::int64_t number_ = 0;
  bool is_over_ = false;
};

}  // namespace vramscope::memory_timeline
