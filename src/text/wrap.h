#pragma once
// Prose broken into lines for a terminal.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope {

// Lines of at most `columns` (at least 8): broken at spaces, between wide characters, and within a word only where
// the word alone is longer than a line. Nothing is lost but the spaces at the breaks. Colours take no room.
std::vector<std::string> wrap_lines(std::string_view text, std::size_t columns);
// The same as text: each line ended by "\n" and indented by `indent`, the lines after the first by `hanging` more.
// `columns` counts the indentation.
std::string wrap(std::string_view text, std::size_t columns, std::size_t indent = 0, std::size_t hanging = 0);

}  // namespace vramscope
