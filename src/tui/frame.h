#pragma once
// A screen as a grid of cells: what is drawn, before any terminal sees it.
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace vramscope::tui {

// What a cell means; how that looks is decided where it is shown.
enum class Style : std::uint8_t {
  normal,
  dim,
  bold,
  title,
  label,  // names of values, of keys' meanings
  good,
  warning,
  bad,
  curve_0,  // one for each curve, see setup.h
  curve_1,
  curve_2,
  curve_3,
  curve_4,
  heading,   // of a table: inverted
  selected,  // the row of the cursor: inverted
  key        // of the bar of keys
};
inline constexpr std::size_t kStyles = static_cast<std::size_t>(Style::key) + 1;

// Columns and rows of the screen.
struct Rect {
  int x = 0, y = 0, width = 0, height = 0;
  bool is_empty() const { return width <= 0 || height <= 0; }
  bool contains(int column, int row) const { return column >= x && column < x + width && row >= y && row < y + height; }
  bool operator==(const Rect&) const = default;
};

// One character with the marks that combine with it.
struct Cell {
  std::array<char, 9> text{' '};
  std::uint8_t bytes = 1;
  std::uint8_t width = 1;  // 2: the cell behind it has width 0 and no text
  Style style = Style::normal;
  bool operator==(const Cell&) const = default;
  std::string_view view() const { return {text.data(), bytes}; }
};

static_assert(std::is_trivially_copyable_v<Cell> && sizeof(Cell) == 12, "rows are compared and copied as bytes");

class Frame {
 public:
  static constexpr int kNoLimit = std::numeric_limits<int>::max();

  Frame(int columns, int rows) { reset(columns, rows); }
  // All blank, in this size.
  void reset(int columns, int rows);
  int columns() const { return columns_; }
  int rows() const { return rows_; }
  const Cell& at(int x, int y) const { return cells_[place(x, y)]; }
  const Cell* row(int y) const { return &cells_[place(0, y)]; }

  // Writes printable UTF-8 without control characters; what does not fit into the screen or `limit` columns is cut
  // off, a wide character whole. The columns that it took.
  int put(int x, int y, std::string_view text, Style style = Style::normal, int limit = kNoLimit);
  // The same, with "…" (or "~") where something was cut off.
  int put_elided(int x, int y, std::string_view text, Style style, int limit, bool ascii);
  // The same at the right end of `width` columns.
  void put_right(int x, int y, std::string_view text, Style style, int width);
  // One cell of a single code point of width 1.
  void set(int x, int y, std::string_view glyph, Style style);
  void fill(const Rect& area, char glyph, Style style);
  // Gives the cells of a row another style.
  void restyle(int x, int y, int width, Style style);

  // Of a frame of the same size.
  void copy_row(const Frame& from, int y);

  // Lines with "\n", blanks at their ends left out; with the terminal's colours when terminal().colour.
  std::string text() const;

 private:
  std::size_t place(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(x);
  }
  void set_cell(int x, int y, std::string_view cluster, int width, Style style);
  void blank_half_of_wide(int x, int y);

  int columns_ = 0;
  int rows_ = 0;
  std::vector<Cell> cells_;
  std::vector<Cell> blank_;  // a row
};

}  // namespace vramscope::tui
