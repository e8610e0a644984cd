#pragma once
// Text in UTF-8, whatever of UTF-8 and UTF-16 (both orders, with a byte order mark) the file has. Offsets of what is
// read count bytes of UTF-8. Not thread-safe.
#include <cstddef>
#include <string>
#include <string_view>

#include "import/byte_stream.h"

namespace vramscope::memory_log {

class Utf8Stream {
 public:
  explicit Utf8Stream(ByteStream& stream) : stream_(stream) {}
  // Fills `size` bytes; fewer only at the end, where 0 comes.
  std::size_t read(char* out, std::size_t size);

 private:
  enum class Encoding { unknown, utf8, utf16_little, utf16_big };

  std::size_t read_bytes(char* out, std::size_t size);
  void look_at_mark();
  void convert_more();
  void put(char32_t code);

  ByteStream& stream_;
  Encoding encoding_ = Encoding::unknown;
  std::string ready_;  // text that is still to be given out, from taken_
  std::size_t taken_ = 0;
  char32_t high_ = 0;  // the first half of a pair
  std::string odd_;    // a byte without its partner
};

// Whether the text begins with a byte order mark of UTF-16 (and not of UTF-32).
bool has_utf16_mark(std::string_view head);
// The whole of it as UTF-8, for looking at heads.
std::string utf8_of(std::string_view head);

}  // namespace vramscope::memory_log
