#include "import/readers/memory_timeline/number_lists.h"

#include <limits>

namespace vramscope::memory_timeline {

namespace {

constexpr bool is_digit(int c) {
  return c >= '0' && c <= '9';
}

}  // namespace

bool NumberLists::refill() {
  constexpr std::size_t kPiece = 256 * 1024;
  if (is_over_) return false;
  base_ += static_cast<std::int64_t>(buffer_.size());
  buffer_.resize_for_overwrite(kPiece);
  buffer_.resize_for_overwrite(stream_.read(buffer_.data(), kPiece));
  at_ = 0;
  is_over_ = buffer_.empty();
  if (progress_) progress_(stream_.consumed(), stream_.file_size());
  return !is_over_;
}

Token NumberLists::take_number(bool is_negative) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::int64_t value = 0;
  while (is_digit(peek())) {
    const std::int64_t digit = buffer_[at_] - '0';
    value = value > (kMost - digit) / 10 ? kMost : value * 10 + digit;
    ++at_;
  }
  if (peek() == '.') {
    ++at_;
    if (!is_digit(peek())) return Token::malformed;
    while (is_digit(peek())) ++at_;
  }
  if (peek() == 'e' || peek() == 'E') return Token::malformed;
  number_ = is_negative ? -value : value;
  return Token::number;
}

Token NumberLists::next() {
  int c = peek();
  while (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
    ++at_;
    c = peek();
  }
  if (c < 0) return Token::end;
  if (is_digit(c)) return take_number(false);
  if (c == '-') {
    ++at_;
    return is_digit(peek()) ? take_number(true) : Token::malformed;
  }
  if (c != '[' && c != ']' && c != ',') return Token::malformed;
  ++at_;
  return c == '[' ? Token::open : c == ']' ? Token::close : Token::comma;
}

}  // namespace vramscope::memory_timeline
