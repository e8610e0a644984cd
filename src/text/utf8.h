#pragma once
// Text of unknown origin, made safe to print.
#include <cstddef>
#include <string>
#include <string_view>

namespace vramscope {

// Every byte sequence that is not UTF-8 becomes U+FFFD.
std::string valid_utf8(std::string_view text);
// valid_utf8, with newlines and tabs as a space and every other control character (terminal escapes, C1, DEL, marks
// that reorder text) written out: "\x1b", "\u202e".
std::string printable(std::string_view text);
// Columns that the text takes in a terminal: 2 for CJK and most emoji, 0 for combining marks.
std::size_t display_width(std::string_view text);
// At most `columns` wide; what is cut at the end is shown as "…" ("..." in ASCII mode).
std::string elide_end(std::string_view text, std::size_t columns, bool ascii = false);
// Cut in the middle: keeps the start and the end (paths, kernel names).
std::string elide_middle(std::string_view text, std::size_t columns, bool ascii = false);

}  // namespace vramscope
