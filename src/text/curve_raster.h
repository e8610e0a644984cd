#pragma once
// Draws lines into a grid of terminal cells.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "text/curve.h"

namespace vramscope {

// What the grid covers.
struct CurveWindow {
  std::int64_t begin_time = 0;
  std::int64_t end_time = 0;
  double low = 0;
  double high = 1;        // > low
  bool all_zero = false;  // every value is 0; `high` means nothing
};

// Finite values only; false when the lines have none. With `from_zero` the values' range includes 0.
bool find_window(const std::vector<CurveLine>& lines, bool from_zero, CurveWindow& window);
// In [0, columns); times outside the window land on its edge.
std::size_t column_of(const CurveWindow& window, std::int64_t time, std::size_t columns);
// In [0, levels), 0 is the lowest.
std::size_t level_of(const CurveWindow& window, double value, std::size_t levels);
// Levels that one row of cells tells apart.
inline std::size_t levels_a_row(bool ascii) {
  return ascii ? 2 : 4;
}
// The rows, top first, each `columns` cells wide.
std::vector<std::string> draw(const std::vector<CurveLine>& lines, const CurveWindow& window, std::size_t columns,
                              const CurveOptions& options);
// Two cells as the line with that index looks, for a legend.
std::string line_sample(std::size_t index, bool ascii);

}  // namespace vramscope
