#pragma once
// The text of a file through a buffer that moves along it. Not thread-safe.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/column.h"
#include "import/byte_stream.h"
#include "import/reader.h"

namespace vramscope::pickle {

class Window {
 public:
  Window(ByteStream& stream, const Progress& progress) : stream_(stream), progress_(progress) {}

  // Behind `end` so many bytes can be read, too; they are 0.
  static constexpr std::size_t kMargin = 16;
  // Bytes from `at` to `end` are there. The user moves `at`; reach() moves everything.
  const char* at = nullptr;
  const char* end = nullptr;

  // Makes at least `size` bytes available behind `at`; false when the file ends before. Grows as bytes really come, so
  // a claimed length costs nothing by itself.
  bool reach(std::size_t size);
  // In the text, of `at`.
  std::int64_t offset() const { return base_ + (at - buffer_.data()); }
  bool is_at_end() const { return is_over_; }

 private:
  static constexpr std::size_t kPiece = 512 * 1024;
  ByteStream& stream_;
  const Progress& progress_;
  Column<char> buffer_;
  std::size_t room_ = 0;   // bytes of text that the buffer can hold
  std::int64_t base_ = 0;  // offset of the buffer's first byte
  bool is_over_ = false;
};

}  // namespace vramscope::pickle
