#pragma once
// Files that we know by sight but do not read.
#include <string_view>

namespace vramscope {

// The msgid of a sentence with a {path} place that says what the file is and what to do, or nullptr.
const char* recognise_foreign(std::string_view head);

// "UTF-16LE" and so on, as iconv calls it, for text that begins like JSON in an encoding of two or four bytes a
// character, with or without a byte order mark; nullptr for all else.
const char* wide_encoding(std::string_view head);

}  // namespace vramscope
