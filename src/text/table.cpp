#include "text/table.h"

#include <algorithm>

#include "text/terminal.h"
#include "text/utf8.h"
#include "text/width.h"

namespace vramscope {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kLeast = 8;  // columns that a shrinking column keeps

using Row = std::vector<std::string>;

// Cells may come from the input: nothing but our own colours passes, and those only where we paint at all.
std::string clean(const std::string& cell) {
  return terminal().colour ? printable_painted(cell) : printable(cell);
}

Row clean_row(const Row& row, std::size_t columns) {
  Row out(columns);
  for (std::size_t i = 0; i < columns && i < row.size(); ++i) out[i] = clean(row[i]);
  return out;
}

// Takes columns off the widest shrinking ones, one width level after the other, until `excess` is gone.
void shrink(std::vector<std::size_t>& widths, const std::vector<TableColumn>& columns, std::size_t excess) {
  while (excess > 0) {
    std::size_t widest = 0;
    std::size_t next = kLeast;  // the level below the widest
    std::size_t count = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (columns[i].shrink == Shrink::no || widths[i] <= kLeast) continue;
      if (widths[i] > widest) {
        next = std::max(next, widest);
        widest = widths[i];
        count = 1;
      } else if (widths[i] == widest) {
        ++count;
      } else {
        next = std::max(next, widths[i]);
      }
    }
    if (count == 0) return;
    const std::size_t step = std::max<std::size_t>(1, std::min(widest - next, excess / count));
    for (std::size_t i = 0; i < widths.size() && excess > 0; ++i) {
      if (columns[i].shrink == Shrink::no || widths[i] != widest) continue;
      const std::size_t taken = std::min(step, excess);
      widths[i] -= taken;
      excess -= taken;
    }
  }
}

std::string fitted(const std::string& cell, const TableColumn& column, std::size_t width) {
  if (column.shrink == Shrink::no) return cell;
  const bool ascii = !terminal().utf8;
  return column.shrink == Shrink::middle ? elide_middle(cell, width, ascii) : elide_end(cell, width, ascii);
}

void append_line(std::string& out, const Row& cells, const TextTable& table, const std::vector<std::size_t>& widths,
                 std::size_t indent) {
  std::string line(indent, ' ');
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::string cell = fitted(cells[i], table.columns[i], widths[i]);
    const std::size_t used = display_width(cell);
    const std::string padding(widths[i] > used ? widths[i] - used : 0, ' ');
    if (i > 0) line.append(kGap, ' ');
    line += table.columns[i].align == Align::right ? padding + cell : cell + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

}  // namespace

std::string render(const TextTable& table, std::size_t width, std::size_t indent) {
  if (table.columns.empty()) return "";
  Row titles;
  for (const TableColumn& column : table.columns) titles.push_back(printable(column.title));
  std::vector<Row> rows;
  rows.reserve(table.rows.size());
  for (const Row& row : table.rows) rows.push_back(clean_row(row, titles.size()));

  std::vector<std::size_t> widths(titles.size(), 0);
  std::size_t total = indent + kGap * (titles.size() - 1);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    widths[i] = display_width(titles[i]);
    for (const Row& row : rows) widths[i] = std::max(widths[i], display_width(row[i]));
    total += widths[i];
  }
  if (total > width) shrink(widths, table.columns, total - width);

  std::string out;
  append_line(out, titles, table, widths, indent);
  const std::string stroke = terminal().utf8 ? "─" : "-";
  std::string rule(indent, ' ');
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (i > 0) rule.append(kGap, ' ');
    for (std::size_t k = 0; k < widths[i]; ++k) rule += stroke;
  }
  out += rule + "\n";
  for (const Row& row : rows) append_line(out, row, table, widths, indent);
  return out;
}

}  // namespace vramscope
