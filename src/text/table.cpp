#include "text/table.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "text/catalogue.h"
#include "text/terminal.h"
#include "text/utf8.h"
#include "text/width.h"
#include "text/wrap.h"

namespace vramscope {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kLeast = 8;  // columns that any column keeps where nothing else helps

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

// Takes columns off the widest, one width level after the other, until `excess` is gone or all are at their least.
void shrink(std::vector<std::size_t>& widths, const std::vector<std::size_t>& least, std::size_t excess) {
  while (excess > 0) {
    std::size_t widest = 0;
    std::size_t next = 0;  // the level below the widest
    std::size_t count = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] <= least[i]) continue;
      if (widths[i] > widest) {
        next = std::max(widest, least[i]);
        widest = widths[i];
        count = 1;
      } else if (widths[i] == widest) {
        next = std::max(next, least[i]);
        ++count;
      } else {
        next = std::max(next, widths[i]);
      }
    }
    if (count == 0) return;
    const std::size_t step = std::max<std::size_t>(1, std::min(widest - next, excess / count));
    for (std::size_t i = 0; i < widths.size() && excess > 0; ++i) {
      if (widths[i] <= least[i] || widths[i] != widest) continue;
      const std::size_t taken = std::min(step, excess);
      widths[i] -= taken;
      excess -= taken;
    }
  }
}

std::size_t total_of(const std::vector<std::size_t>& widths, std::size_t indent) {
  std::size_t total = indent + kGap * (widths.size() - 1);
  for (const std::size_t width : widths) total += width;
  return total;
}

std::vector<std::size_t> natural_widths(const TextTable& table) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::size_t width = display_width(table.columns[i].title);
    for (const Row& row : table.rows) width = std::max(width, display_width(row[i]));
    widths.push_back(width);
  }
  return widths;
}

std::vector<std::size_t> least_widths(const TextTable& table, const std::vector<std::size_t>& widths) {
  std::vector<std::size_t> least = widths;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const TableColumn& column = table.columns[i];
    if (column.shrink != Shrink::no) least[i] = std::min(widths[i], column.least);
  }
  return least;
}

// Leaves columns out until the rest can be shrunk to the width; their titles, from left to right.
std::vector<std::string> drop_columns(TextTable& table, std::size_t width, std::size_t indent) {
  std::vector<std::pair<std::size_t, std::string>> dropped;
  std::vector<std::size_t> places;  // of the columns that are left, in the whole table
  for (std::size_t i = 0; i < table.columns.size(); ++i) places.push_back(i);
  while (total_of(least_widths(table, natural_widths(table)), indent) > width) {
    const auto next = std::max_element(table.columns.rbegin(), table.columns.rend(),
                                       [](const TableColumn& a, const TableColumn& b) { return a.drop < b.drop; });
    if (next->drop == 0) break;
    const auto at = static_cast<std::ptrdiff_t>(table.columns.rend() - next - 1);
    dropped.emplace_back(places[static_cast<std::size_t>(at)], next->title);
    places.erase(places.begin() + at);
    table.columns.erase(table.columns.begin() + at);
    for (Row& row : table.rows) row.erase(row.begin() + at);
  }
  std::sort(dropped.begin(), dropped.end());
  std::vector<std::string> titles;
  // A column without a title shows again what another one says.
  for (const auto& [place, title] : dropped) {
    if (!title.empty()) titles.push_back(title);
  }
  return titles;
}

std::vector<std::string> fitted(const std::string& cell, const TableColumn& column, std::size_t width) {
  if (display_width(cell) <= width) return {cell};
  if (column.shrink == Shrink::wrap) return wrap_lines(cell, width);
  const bool ascii = !terminal().utf8;
  return {column.shrink == Shrink::middle ? elide_middle(cell, width, ascii) : elide_end(cell, width, ascii)};
}

void append_lines(std::string& out, const Row& cells, const TextTable& table, const std::vector<std::size_t>& widths,
                  std::size_t indent) {
  std::vector<std::vector<std::string>> lines;
  std::size_t count = 1;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    lines.push_back(fitted(cells[i], table.columns[i], widths[i]));
    count = std::max(count, lines.back().size());
  }
  for (std::size_t at = 0; at < count; ++at) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string cell = at < lines[i].size() ? lines[i][at] : std::string();
      const std::size_t used = display_width(cell);
      const std::string padding(widths[i] > used ? widths[i] - used : 0, ' ');
      if (i > 0) line.append(kGap, ' ');
      line += table.columns[i].align == Align::right ? padding + cell : cell + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
}

}  // namespace

std::string left_out_line(const std::vector<std::string>& titles, std::size_t width, std::size_t indent) {
  if (titles.empty()) return {};
  std::string list;
  for (const std::string& title : titles) list += (list.empty() ? "" : ", ") + title;
  const std::string text = fmt::format(fmt::runtime(tr_n("{count} column not shown ({columns}); --width 0 shows all.",
                                                         "{count} columns not shown ({columns}); --width 0 shows all.",
                                                         static_cast<long>(titles.size()))),
                                       fmt::arg("count", titles.size()), fmt::arg("columns", list));
  return wrap(text, width, indent);
}

std::string render(const TextTable& table, std::size_t width, std::size_t indent) {
  if (table.columns.empty()) return "";
  TextTable shown;
  shown.columns = table.columns;
  for (TableColumn& column : shown.columns) column.title = printable(column.title);
  shown.rows.reserve(table.rows.size());
  for (const Row& row : table.rows) shown.rows.push_back(clean_row(row, table.columns.size()));

  const std::vector<std::string> left_out = drop_columns(shown, width, indent);
  std::vector<std::size_t> widths = natural_widths(shown);
  const auto shrink_to = [&](const std::vector<std::size_t>& least) {
    const std::size_t total = total_of(widths, indent);
    if (total > width) shrink(widths, least, total - width);
  };
  shrink_to(least_widths(shown, widths));
  shrink_to(std::vector<std::size_t>(widths.size(), kLeast));

  Row titles;
  for (const TableColumn& column : shown.columns) titles.push_back(column.title);
  std::string out;
  append_lines(out, titles, shown, widths, indent);
  const std::string stroke = terminal().utf8 ? "─" : "-";
  std::string rule(indent, ' ');
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (i > 0) rule.append(kGap, ' ');
    for (std::size_t k = 0; k < widths[i]; ++k) rule += stroke;
  }
  out += rule + "\n";
  for (const Row& row : shown.rows) append_lines(out, row, shown, widths, indent);
  return out + left_out_line(left_out, width, indent);
}

}  // namespace vramscope
