#pragma once
// Columns of a chunk as bytes. The encodings are lossless for every int64; which one is used is chosen by size.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recording/format.h"

namespace vramscope::recording {

// Appends the values in the encoding that takes the fewest bytes and says which one that is.
Encoding encode_integers(const std::vector<std::int64_t>& values, std::string& out);
// Appends them in this encoding. `constant` keeps the first value alone.
void encode_integers_as(Encoding encoding, const std::vector<std::int64_t>& values, std::string& out);
// Exactly `rows` values; false when the bytes are fewer, more, or no such encoding.
bool decode_integers(Encoding encoding, std::string_view bytes, std::size_t rows, std::vector<std::int64_t>& values);

// Texts that are all the same are written once.
Encoding encode_texts(const std::vector<std::string_view>& texts, std::string& out);
// The views lie in `bytes`.
bool decode_texts(Encoding encoding, std::string_view bytes, std::size_t rows, std::vector<std::string_view>& texts);

}  // namespace vramscope::recording
