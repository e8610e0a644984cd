#include "text/wrap.h"

#include <algorithm>

#include "text/utf8.h"
#include "text/width.h"

namespace vramscope {

namespace {

constexpr std::size_t kFewestRoom = 8;

// Punctuation that may not begin a line of Chinese text.
bool closes(std::string_view text) {
  for (const std::string_view mark : {"，", "。", "；", "：", "、", "）", "”", "？", "！", "》"}) {
    if (text.substr(0, mark.size()) == mark) return true;
  }
  return false;
}

// Bytes of `text` that make up the next line.
std::size_t line_length(std::string_view text, std::size_t columns) {
  std::size_t used = 0;
  std::size_t at = 0;
  std::size_t last_break = 0;
  while (at < text.size()) {
    if (const std::size_t colour = colour_sequence(text, at); colour > 0) {
      at += colour;
      continue;
    }
    const CodePoint point = decode(text, at);
    const std::size_t width = code_point_width(point.value);
    if (text[at] == ' ') last_break = at;  // a space may stand in the column behind the last one: it is dropped
    if (used + width > columns) break;
    at += point.bytes;
    used += width;
    if (width == 2 && !closes(text.substr(at))) last_break = at;
  }
  if (at >= text.size()) return text.size();
  return last_break > 0 ? last_break : at;
}

}  // namespace

std::vector<std::string> wrap_lines(std::string_view text, std::size_t columns) {
  columns = std::max(columns, kFewestRoom);
  std::vector<std::string> lines;
  do {
    const std::size_t length = line_length(text, columns);
    lines.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  } while (!text.empty());
  return lines;
}

std::string wrap(std::string_view text, std::size_t columns, std::size_t indent, std::size_t hanging) {
  const auto room = [&](std::size_t margin) { return std::max(columns > margin ? columns - margin : 0, kFewestRoom); };
  std::string out;
  std::size_t margin = indent;
  do {
    const std::size_t length = line_length(text, room(margin));
    out += std::string(margin, ' ') + std::string(text.substr(0, length)) + "\n";
    text.remove_prefix(length);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    margin = indent + hanging;
  } while (!text.empty());
  return out;
}

}  // namespace vramscope
