#pragma once
// Numbers and texts as pickles write them. All of them take any bytes.
#include <cstdint>
#include <string>
#include <string_view>

#include "import/readers/cuda_snapshot/store.h"

namespace vramscope::pickle {

// Little-endian two's complement of any length. Beyond 64 bits: clamped.
Number long_from_bytes(std::string_view bytes);
// BINFLOAT's eight bytes, big-endian, as they lie in memory.
Number real_from_bytes(std::uint64_t bytes);
// "-12", "12L".
bool parse_whole(std::string_view line, Number& number);
bool parse_real(std::string_view line, Number& number);
bool parse_index(std::string_view line, std::uint64_t& index);
// 'a\x41' with its quotes, as protocol 0 writes str of Python 2.
bool unquote(std::string_view line, std::string& text);
// "a\u4e2d": Latin-1 with escapes of four and eight digits.
bool unescape_unicode(std::string_view line, std::string& text);

// Inline where it fits.
Value number_value(Store& store, const Number& number);

}  // namespace vramscope::pickle
