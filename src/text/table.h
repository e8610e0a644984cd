#pragma once
// A table of text for a terminal: columns as wide as their cells, fitted to a width by shrinking the columns that
// may shrink. CJK and colour aware.
#include <cstddef>
#include <string>
#include <vector>

namespace vramscope {

enum class Align { left, right };
// What happens to the text where the table is too wide: cut at the end or in the middle, or gone on with in further
// lines.
enum class Shrink { no, end, middle, wrap };

struct TableColumn {
  std::string title;
  Align align = Align::left;
  Shrink shrink = Shrink::no;
  int drop = 0;           // where shrinking is not enough the columns with the highest number go first; 0 stays
  std::size_t least = 8;  // columns that a shrinking one keeps
};

struct TextTable {
  std::vector<TableColumn> columns;
  std::vector<std::vector<std::string>> rows;  // cells; a shorter row leaves the rest empty
};

// Lines with "\n", indented by `indent` columns and at most `width` wide, unless all columns are at their least.
// Titles are underlined by a rule. A last line tells which columns were left out.
std::string render(const TextTable& table, std::size_t width, std::size_t indent = 0);
// That line alone; empty for no titles.
std::string left_out_line(const std::vector<std::string>& titles, std::size_t width, std::size_t indent);

}  // namespace vramscope
