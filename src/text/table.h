#pragma once
// A table of text for a terminal: columns as wide as their cells, fitted to a width by shrinking the columns that
// may shrink. CJK and colour aware.
#include <cstddef>
#include <string>
#include <vector>

namespace vramscope {

enum class Align { left, right };
enum class Shrink { no, end, middle };  // where text is cut when the table is too wide

struct TableColumn {
  std::string title;
  Align align = Align::left;
  Shrink shrink = Shrink::no;
};

struct TextTable {
  std::vector<TableColumn> columns;
  std::vector<std::vector<std::string>> rows;  // cells; a shorter row leaves the rest empty
};

// Lines with "\n", indented by `indent` columns, at most `width` wide where the shrinking columns allow it
// (each keeps at least 8). Titles are underlined by a rule.
std::string render(const TextTable& table, std::size_t width, std::size_t indent = 0);

}  // namespace vramscope
