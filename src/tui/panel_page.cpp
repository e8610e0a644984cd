// Boxes, and pages of text that can be scrolled.
#include <algorithm>

#include "text/utf8.h"
#include "text/wrap.h"
#include "tui/panels.h"

namespace vramscope::tui {

namespace {

constexpr std::size_t kNarrowest = 8;  // of wrap_lines

void draw_border(Frame& frame, const Rect& area, bool ascii) {
  const char* across = ascii ? "-" : "─";
  const char* down = ascii ? "|" : "│";
  const int right = area.x + area.width - 1, bottom = area.y + area.height - 1;
  for (int x = area.x + 1; x < right; ++x) {
    frame.set(x, area.y, across, Style::dim);
    frame.set(x, bottom, across, Style::dim);
  }
  for (int y = area.y + 1; y < bottom; ++y) {
    frame.set(area.x, y, down, Style::dim);
    frame.set(right, y, down, Style::dim);
  }
  frame.set(area.x, area.y, ascii ? "+" : "┌", Style::dim);
  frame.set(right, area.y, ascii ? "+" : "┐", Style::dim);
  frame.set(area.x, bottom, ascii ? "+" : "└", Style::dim);
  frame.set(right, bottom, ascii ? "+" : "┘", Style::dim);
}

}  // namespace

Rect draw_box(Frame& frame, const Rect& area, std::string_view title, const Look& look) {
  frame.fill(area, ' ', Style::normal);
  if (area.width < 4 || area.height < 3) return {};
  draw_border(frame, area, look.ascii);
  frame.put_elided(area.x + 2, area.y, " " + std::string(title) + " ", Style::title, area.width - 4, look.ascii);
  return {area.x + 1, area.y + 1, area.width - 2, area.height - 2};
}

int page_width(const Frame& frame) {
  return std::max(frame.columns() - 4, static_cast<int>(kNarrowest));
}

void add_text(std::vector<Line>& lines, std::string_view text, Style style, int width, int indent) {
  const auto columns = std::max(static_cast<std::size_t>(std::max(width - indent, 0)), kNarrowest);
  for (std::string& line : wrap_lines(text, columns)) {
    lines.push_back({{std::string(static_cast<std::size_t>(indent), ' ') + std::move(line), style}});
  }
}

void draw_page(Frame& frame, std::string_view title, const std::vector<Line>& lines, const Look& look, View& view) {
  const Rect inside = draw_box(frame, {0, 0, frame.columns(), frame.rows() - 1}, title, look);
  view.lines = lines.size();
  view.page = static_cast<std::size_t>(std::max(inside.height, 1));
  const std::size_t last = view.lines > view.page ? view.lines - view.page : 0;
  const std::size_t first = std::min(look.ui.first_line, last);
  for (int i = 0; i < inside.height; ++i) {
    const std::size_t at = first + static_cast<std::size_t>(i);
    if (at >= lines.size()) break;
    int x = inside.x + 1;
    for (const Piece& piece : lines[at]) {
      x += frame.put(x, inside.y + i, piece.text, piece.style, inside.x + inside.width - x);
    }
  }
  if (last == 0 || inside.is_empty()) return;
  const std::string place = " " + std::to_string(first + 1) + "-" +
                            std::to_string(std::min(first + view.page, view.lines)) + "/" + std::to_string(view.lines) +
                            " ";
  frame.put_right(2, frame.rows() - 2, place, Style::dim, frame.columns() - 4);
}

}  // namespace vramscope::tui
