#pragma once
// Places and labels of the axes of a plot.
#include <string>
#include <vector>

#include "text/curve_raster.h"

namespace vramscope {

struct Tick {
  std::size_t at = 0;  // row, the top one is 0; or column
  std::string label;
};

// The highest and the lowest value of the window, and round values between them.
std::vector<Tick> value_ticks(const CurveWindow& window, const CurveOptions& options);
// Round times since the window's begin; its end where none fits.
std::vector<Tick> time_ticks(const CurveWindow& window, std::size_t columns, const CurveOptions& options);

}  // namespace vramscope
