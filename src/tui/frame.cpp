#include "tui/frame.h"

#include <algorithm>
#include <cstring>

#include "text/terminal.h"
#include "text/utf8.h"
#include "text/width.h"

namespace vramscope::tui {

namespace {

std::string painted(const std::string& text, Style style) {
  switch (style) {
    case Style::normal:
      return text;
    case Style::dim:
      return paint(text, Colour::grey);
    case Style::bold:
    case Style::heading:
    case Style::selected:
    case Style::key:
      return paint(text, Colour::bold);
    case Style::good:
    case Style::curve_2:
      return paint(text, Colour::green);
    case Style::warning:
    case Style::curve_1:
      return paint(text, Colour::yellow);
    case Style::bad:
    case Style::curve_3:
      return paint(text, Colour::red);
    case Style::curve_4:
      return paint(text, Colour::blue);
    case Style::title:
    case Style::label:
    case Style::curve_0:
      return paint(text, Colour::cyan);
  }
  return text;
}

bool is_blank(const Cell& cell) {
  return cell.width == 1 && cell.bytes == 1 && cell.text[0] == ' ';
}

}  // namespace

void Frame::reset(int columns, int rows) {
  columns_ = std::max(columns, 1);
  rows_ = std::max(rows, 1);
  const auto width = static_cast<std::size_t>(columns_);
  if (blank_.size() != width) blank_.assign(width, Cell());
  cells_.resize(width * static_cast<std::size_t>(rows_));
  for (int y = 0; y < rows_; ++y) std::memcpy(&cells_[place(0, y)], blank_.data(), sizeof(Cell) * width);
}

// What overwrites one half of a wide character leaves a blank in place of the other.
void Frame::blank_half_of_wide(int x, int y) {
  const auto blank = [&](int at) {
    Cell& cell = cells_[place(at, y)];
    const Style style = cell.style;
    cell = Cell();
    cell.style = style;
  };
  const Cell& cell = cells_[place(x, y)];
  if (cell.width == 2 && x + 1 < columns_) blank(x + 1);
  if (cell.width == 0 && x > 0) blank(x - 1);
}

void Frame::set_cell(int x, int y, std::string_view cluster, int width, Style style) {
  blank_half_of_wide(x, y);
  Cell& cell = cells_[place(x, y)];
  cell.text.fill(0);
  std::memcpy(cell.text.data(), cluster.data(), std::min(cluster.size(), cell.text.size()));
  cell.bytes = static_cast<std::uint8_t>(std::min(cluster.size(), cell.text.size()));
  cell.width = static_cast<std::uint8_t>(width);
  cell.style = style;
  if (width != 2) return;
  blank_half_of_wide(x + 1, y);
  Cell& rest = cells_[place(x + 1, y)];
  rest.text.fill(0);
  rest.bytes = 0;
  rest.width = 0;
  rest.style = style;
}

int Frame::put(int x, int y, std::string_view text, Style style, int limit) {
  if (y < 0 || y >= rows_ || x < 0 || limit <= 0) return 0;
  const int end = limit > columns_ - x ? columns_ : x + limit;
  const int begin = x;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      if (x >= end) break;
      set_cell(x++, y, text.substr(i++, 1), 1, style);
      continue;
    }
    const CodePoint point = decode(text, i);
    const int width = static_cast<int>(code_point_width(point.value));
    const std::string_view bytes = point.valid ? text.substr(i, point.bytes) : std::string_view("?");
    i += point.bytes;
    if (width == 0) {  // a mark: joins the cell before it while there is room
      if (x == begin) continue;
      Cell& before = cells_[place(x - 1, y)];
      Cell& base = before.width == 0 && x > 1 ? cells_[place(x - 2, y)] : before;
      if (base.bytes + bytes.size() > base.text.size()) continue;
      std::memcpy(base.text.data() + base.bytes, bytes.data(), bytes.size());
      base.bytes = static_cast<std::uint8_t>(base.bytes + bytes.size());
      continue;
    }
    if (x + width > end) break;
    set_cell(x, y, bytes, point.valid ? width : 1, style);
    x += point.valid ? width : 1;
  }
  return x - begin;
}

int Frame::put_elided(int x, int y, std::string_view text, Style style, int limit, bool ascii) {
  limit = std::min(limit, columns_ - x);
  if (limit <= 0) return 0;
  if (text.size() <= static_cast<std::size_t>(limit) || display_width(text) <= static_cast<std::size_t>(limit)) {
    return put(x, y, text, style, limit);
  }
  const int used = put(x, y, text, style, limit - 1);
  return used + put(x + used, y, ascii ? "~" : "…", style, 1);
}

void Frame::put_right(int x, int y, std::string_view text, Style style, int width) {
  const int needed = static_cast<int>(std::min<std::size_t>(display_width(text), 10'000));
  put(x + std::max(width - needed, 0), y, text, style, std::min(needed, width));
}

void Frame::set(int x, int y, std::string_view glyph, Style style) {
  if (x < 0 || y < 0 || x >= columns_ || y >= rows_) return;
  set_cell(x, y, glyph, 1, style);
}

void Frame::fill(const Rect& area, char glyph, Style style) {
  const std::string_view text(&glyph, 1);
  for (int y = std::max(area.y, 0); y < std::min(area.y + area.height, rows_); ++y) {
    for (int x = std::max(area.x, 0); x < std::min(area.x + area.width, columns_); ++x) set_cell(x, y, text, 1, style);
  }
}

void Frame::restyle(int x, int y, int width, Style style) {
  if (y < 0 || y >= rows_) return;
  for (int at = std::max(x, 0); at < std::min(x + width, columns_); ++at) cells_[place(at, y)].style = style;
}

void Frame::copy_row(const Frame& from, int y) {
  std::memcpy(&cells_[place(0, y)], from.row(y), sizeof(Cell) * static_cast<std::size_t>(columns_));
}

std::string Frame::text() const {
  std::string out;
  for (int y = 0; y < rows_; ++y) {
    int end = columns_;
    while (end > 0 && is_blank(at(end - 1, y))) --end;
    std::string run;
    for (int x = 0; x < end; ++x) {
      const Cell& cell = at(x, y);
      run += cell.view();
      if (x + 1 < end && at(x + 1, y).style == cell.style) continue;
      out += painted(run, cell.style);
      run.clear();
    }
    out += '\n';
  }
  return out;
}

}  // namespace vramscope::tui
