#pragma once
// Code points and their width in a terminal.
#include <cstddef>
#include <string>
#include <string_view>

namespace vramscope {

constexpr char32_t kReplacement = 0xFFFD;

// One code point, or kReplacement for the longest piece that could have begun one.
struct CodePoint {
  char32_t value = kReplacement;
  std::size_t bytes = 1;
  bool valid = false;
};

// At a position within the text.
CodePoint decode(std::string_view text, std::size_t at);
// 0 for combining marks, format and control characters; 2 for East Asian Wide and Fullwidth; else 1.
std::size_t code_point_width(char32_t value);
// Length of a colour sequence as paint() makes them (ESC [ digits and semicolons m) at `at`; 0 when there is none.
std::size_t colour_sequence(std::string_view text, std::size_t at);
// printable(), with colour sequences kept and ended. For text that this program painted itself.
std::string printable_painted(std::string_view text);

}  // namespace vramscope
