#pragma once
// Where things go on a screen. A pure function of sizes and counts.
#include <cstddef>
#include <vector>

#include "tui/frame.h"

namespace vramscope::tui {

inline constexpr int kFewestScreenColumns = 20;
inline constexpr int kFewestScreenRows = 5;

struct LayoutInput {
  int columns = 80;
  int rows = 24;
  std::vector<bool> is_mig;  // of every device: GPUs, each followed by its MIG devices
  std::size_t processes = 0;
  std::size_t notes = 0;  // lines of verdicts and alerts that there are
  bool show_plots = true;
  bool show_processes = true;
  std::size_t first_device = 0;  // where not all fit: the first that is shown
  std::size_t first_plot = 0;    // likewise, counted in GPUs
};

// How much is told of a GPU: a line of meters; facts, too; clocks and links, too. A MIG device has a line.
enum class MeterForm { line, two_lines, three_lines };

struct Block {
  Rect area;
  std::size_t device = 0;
  bool operator==(const Block&) const = default;
};

struct Layout {
  bool is_too_small = false;  // then nothing else is there
  Rect title;                 // what is not there is empty
  MeterForm form = MeterForm::line;
  std::vector<Block> meters;
  std::vector<Block> plots;
  Rect notes;
  Rect processes;  // the first row is the head of the table
  Rect keys;
  bool operator==(const Layout&) const = default;
};

Layout lay_out(const LayoutInput& input);

// A box in the middle, at most as large as the screen.
Rect centred(int columns, int rows, int width, int height);

}  // namespace vramscope::tui
