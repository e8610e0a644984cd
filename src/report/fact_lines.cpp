#include "report/fact_lines.h"

#include <algorithm>
#include <utility>

#include "text/terminal.h"
#include "text/utf8.h"
#include "text/wrap.h"

namespace vramscope {

namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kGap = 2;
constexpr std::size_t kLeastRoom = 16;  // for a text beside its label, else it goes below

std::string blanks(std::size_t count) {
  return std::string(count, ' ');
}

// `text` behind `line`, which is `used` columns long.
std::string followed_by(const std::string& line, std::size_t used, const std::string& text) {
  const std::size_t columns = line_columns();
  const std::size_t begin = used + kGap;
  if (begin + display_width(text) > columns && begin + kLeastRoom > columns) {
    return line + "\n" + wrap(text, columns, 2 * kIndent);
  }
  std::string block = wrap(text, columns, begin);
  return line + blanks(kGap) + block.substr(begin);
}

}  // namespace

void FactLines::add(std::string label, std::string value, std::string remark) {
  rows_.push_back({std::move(label), std::move(value), std::move(remark)});
}

std::string FactLines::text() const {
  std::size_t label = 0;
  std::size_t value = 0;
  for (const Row& row : rows_) {
    label = std::max(label, display_width(row.label));
    value = std::max(value, display_width(row.value));
  }
  std::string text;
  for (const Row& row : rows_) {
    std::string line = blanks(kIndent) + row.label + blanks(label - display_width(row.label));
    std::size_t used = kIndent + label;
    if (values_ == Align::left) {
      text += followed_by(line, used, row.value);
      continue;
    }
    line += blanks(kGap + value - display_width(row.value)) + row.value;
    used += kGap + value;
    text += row.remark.empty() ? line + "\n" : followed_by(line, used, row.remark);
  }
  return text;
}

}  // namespace vramscope
