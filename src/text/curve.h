#pragma once
// A plot of values over time for a terminal: braille dots (2 x 4 a cell) or ASCII.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vramscope {

struct CurveLine {
  std::string label;
  std::vector<std::pair<std::int64_t, double>> points;  // (time, value), times ascending
};

struct CurveMark {
  std::int64_t time = 0;
  std::string label;  // "peak 3.8 GiB"
};

struct CurveOptions {
  std::size_t width = 80;   // columns of the whole plot, axis labels included
  std::size_t height = 12;  // rows of the plot area
  bool ascii = false;
  bool steps = true;      // a value holds until the next point (memory), else joined by straight lines
  bool binary = true;     // round values of the axis are powers of two (bytes), else 1, 2, 5 times a power of ten
  bool from_zero = true;  // the value axis starts at 0 unless values are negative
  std::string (*format_value)(double) = nullptr;       // labels of the value axis
  std::string (*format_time)(std::int64_t) = nullptr;  // labels of the time axis, given time since the first point
};

// Lines with "\n": value axis at the left, time axis and marks below, a legend when there are two lines or more.
// Empty when no line has a finite value; other values are left out. Round values on the axes lose their trailing
// zeros ("1.50 GiB" is shown as "1.5 GiB"). Coloured when terminal().colour.
// Never loses an extreme: in a cell that covers many points the lowest and highest are both drawn.
std::string plot(const std::vector<CurveLine>& lines, const std::vector<CurveMark>& marks, const CurveOptions& options);

}  // namespace vramscope
