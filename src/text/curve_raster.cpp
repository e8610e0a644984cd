#include "text/curve_raster.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "text/terminal.h"

namespace vramscope {
namespace {

// The levels that a line takes in one column of dots.
struct Extent {
  bool used = false;
  std::size_t low = 0;
  std::size_t high = 0;

  void add(std::size_t level) {
    low = used ? std::min(low, level) : level;
    high = used ? std::max(high, level) : level;
    used = true;
  }
};

struct Cell {
  std::uint8_t dots = 0;  // braille: bits of U+28xx
  char glyph = ' ';       // ASCII
  std::size_t line = 0;   // whose colour
};

using Grid = std::vector<std::vector<Cell>>;  // rows, top first

// Lines are told apart without colour, too: every line after the first has dots in every second, then every
// fourth column. A dotted column stands for all the columns up to the next one, so no extreme is lost.
std::size_t columns_a_dot(std::size_t line, bool ascii) {
  return ascii || line == 0 ? 1 : (line == 1 ? 2 : 4);
}

double halfway(double a, double b, double share) {
  return a * (1 - share) + b * share;
}

class LineTracer {
 public:
  LineTracer(const CurveWindow& window, std::size_t columns, std::size_t levels)
      : window_(window), extents_(columns), levels_(levels) {}

  std::vector<Extent> trace(const CurveLine& line, bool steps) {
    const std::pair<std::int64_t, double>* previous = nullptr;
    for (const auto& point : line.points) {
      if (!std::isfinite(point.second)) continue;
      const std::size_t column = column_of(window_, point.first, extents_.size());
      add(column, point.second);
      if (previous != nullptr) {
        const std::size_t from = column_of(window_, previous->first, extents_.size());
        steps ? hold(from, column, previous->second) : slope(from, column, previous->second, point.second);
      }
      previous = &point;
    }
    if (previous != nullptr && steps && line.points.size() > 1) {
      hold(column_of(window_, previous->first, extents_.size()), extents_.size() - 1, previous->second);
    }
    return std::move(extents_);
  }

 private:
  void add(std::size_t column, double value) { extents_[column].add(level_of(window_, value, levels_)); }
  void hold(std::size_t from, std::size_t to, double value) {
    for (std::size_t column = from; column <= to; ++column) add(column, value);
  }
  // Each column takes the levels between its two edges, so that steep lines have no gaps.
  void slope(std::size_t from, std::size_t to, double first, double last) {
    const auto columns = static_cast<double>(to > from ? to - from : 1);
    for (std::size_t column = from; column <= to; ++column) {
      const double at = static_cast<double>(column - from);
      for (const double edge : {at - 0.5, at + 0.5}) {
        add(column, halfway(first, last, std::clamp(edge / columns, 0.0, 1.0)));
      }
    }
  }

  const CurveWindow& window_;
  std::vector<Extent> extents_;
  std::size_t levels_;
};

void set_dot(Grid& grid, std::size_t dot_column, std::size_t level, std::size_t line) {
  constexpr std::array<std::array<std::uint8_t, 4>, 2> kBits{{{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}}};
  Cell& cell = grid[grid.size() - 1 - level / 4][dot_column / 2];
  cell.dots = static_cast<std::uint8_t>(cell.dots | kBits[dot_column % 2][level % 4]);
  cell.line = line;
}

void draw_dots(Grid& grid, const std::vector<Extent>& extents, std::size_t line) {
  const std::size_t pitch = columns_a_dot(line, false);
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (!extents[i].used) continue;
    for (std::size_t level = extents[i].low; level <= extents[i].high; ++level) {
      const bool end = level == extents[i].low || level == extents[i].high;
      if (pitch == 1 || end || level % 2 == 0) set_dot(grid, i * pitch, level, line);
    }
  }
}

// Characters for a line in the lower half of a cell, in the upper half, and through both.
struct AsciiStyle {
  char lower;
  char upper;
  char both;
};
constexpr std::array<AsciiStyle, 3> kAsciiStyles{{{'_', '-', '|'}, {'.', '.', ':'}, {'o', 'o', 'o'}}};

void draw_ascii(Grid& grid, const std::vector<Extent>& extents, std::size_t line) {
  const AsciiStyle& style = kAsciiStyles[std::min(line, kAsciiStyles.size() - 1)];
  for (std::size_t column = 0; column < extents.size(); ++column) {
    if (!extents[column].used) continue;
    for (std::size_t row = extents[column].low / 2; row <= extents[column].high / 2; ++row) {
      const bool lower = extents[column].low <= row * 2;
      const bool upper = extents[column].high >= row * 2 + 1;
      Cell& cell = grid[grid.size() - 1 - row][column];
      cell.glyph = lower && upper ? style.both : (upper ? style.upper : style.lower);
      cell.line = line;
    }
  }
}

std::string cell_text(const Cell& cell, bool ascii) {
  if (ascii) return {cell.glyph};
  if (cell.dots == 0) return " ";
  std::string out = "\xE2\xA0\x80";  // U+2800
  out[1] = static_cast<char>(0xA0 | (cell.dots >> 6U));
  out[2] = static_cast<char>(0x80 | (cell.dots & 0x3FU));
  return out;
}

std::string painted(const std::string& text, std::size_t line) {
  constexpr std::array<Colour, 4> kColours{Colour::cyan, Colour::yellow, Colour::green, Colour::red};
  return paint(text, kColours[line % kColours.size()]);
}

std::string row_text(const std::vector<Cell>& row, bool ascii) {
  std::string out;
  for (std::size_t i = 0; i < row.size();) {
    const auto blank = [&](std::size_t at) { return row[at].dots == 0 && row[at].glyph == ' '; };
    std::string run;
    const std::size_t first = i;
    for (; i < row.size() && row[i].line == row[first].line && blank(i) == blank(first); ++i) {
      run += cell_text(row[i], ascii);
    }
    out += blank(first) ? run : painted(run, row[first].line);
  }
  return out;
}

}  // namespace

bool find_window(const std::vector<CurveLine>& lines, bool from_zero, CurveWindow& window) {
  bool any = false;
  for (const CurveLine& line : lines) {
    for (const auto& [time, value] : line.points) {
      if (!std::isfinite(value)) continue;
      window.begin_time = any ? std::min(window.begin_time, time) : time;
      window.end_time = any ? std::max(window.end_time, time) : time;
      window.low = any ? std::min(window.low, value) : value;
      window.high = any ? std::max(window.high, value) : value;
      any = true;
    }
  }
  if (!any) return false;
  if (from_zero) {
    window.low = std::min(window.low, 0.0);
    window.high = std::max(window.high, 0.0);
  }
  window.all_zero = window.low == 0 && window.high == 0;
  if (window.all_zero) window.high = 1;
  if (window.low == window.high) {  // flat: in the middle
    const double margin = std::fabs(window.low) / 10;
    window.low -= margin;
    window.high += margin;
  }
  return true;
}

std::size_t column_of(const CurveWindow& window, std::int64_t time, std::size_t columns) {
  if (time <= window.begin_time) return 0;
  if (time >= window.end_time) return window.end_time > window.begin_time ? columns - 1 : 0;
  const auto begin = static_cast<std::uint64_t>(window.begin_time);  // differences of int64 fit uint64
  const auto span = static_cast<double>(static_cast<std::uint64_t>(window.end_time) - begin);
  const auto offset = static_cast<double>(static_cast<std::uint64_t>(time) - begin);
  return std::min(columns - 1, static_cast<std::size_t>(offset / span * static_cast<double>(columns)));
}

std::size_t level_of(const CurveWindow& window, double value, std::size_t levels) {
  // Halved, since the difference of two finite values may be infinite.
  const double share = (value / 2 - window.low / 2) / (window.high / 2 - window.low / 2);
  const double level = std::clamp(share, 0.0, 1.0) * static_cast<double>(levels - 1);
  return std::isnan(level) ? 0 : static_cast<std::size_t>(std::lround(level));
}

std::vector<std::string> draw(const std::vector<CurveLine>& lines, const CurveWindow& window, std::size_t columns,
                              const CurveOptions& options) {
  Grid grid(options.height, std::vector<Cell>(columns));
  for (std::size_t i = lines.size(); i-- > 0;) {  // the first line comes to lie on top
    const std::size_t pitch = columns_a_dot(i, options.ascii);
    const std::size_t dots = options.ascii ? columns : columns * 2;
    LineTracer tracer(window, (dots + pitch - 1) / pitch, options.height * levels_a_row(options.ascii));
    const std::vector<Extent> extents = tracer.trace(lines[i], options.steps);
    options.ascii ? draw_ascii(grid, extents, i) : draw_dots(grid, extents, i);
  }
  std::vector<std::string> rows;
  for (const std::vector<Cell>& row : grid) rows.push_back(row_text(row, options.ascii));
  return rows;
}

std::string line_sample(std::size_t index, bool ascii) {
  constexpr std::array<const char*, 3> kBraille{"⠒⠒", "⠂⠂", "⠂ "};
  constexpr std::array<const char*, 3> kAscii{"--", "..", "oo"};
  const std::size_t style = std::min<std::size_t>(index, 2);
  return painted(ascii ? kAscii[style] : kBraille[style], index);
}

}  // namespace vramscope
