// What must hold for the layout of `top` at every size, whatever there is to show.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tui/layout.h"

namespace vramscope::tui {
namespace {

struct Part {
  std::string name;
  Rect area;
};

std::vector<Part> parts_of(const Layout& layout) {
  std::vector<Part> parts{
      {"title", layout.title}, {"notes", layout.notes}, {"processes", layout.processes}, {"keys", layout.keys}};
  for (const Block& block : layout.meters) parts.push_back({"meter", block.area});
  for (const Block& block : layout.plots) parts.push_back({"plot", block.area});
  return parts;
}

// Inside the screen, and no cell in two parts. Empty: all is well.
std::string problem_of(const Layout& layout, int columns, int rows) {
  std::vector<char> taken(static_cast<std::size_t>(columns * rows), 0);
  for (const Part& part : parts_of(layout)) {
    const Rect& area = part.area;
    if (area == Rect()) continue;  // not there
    if (area.is_empty()) return part.name + " is empty";
    if (area.x < 0 || area.y < 0 || area.x + area.width > columns || area.y + area.height > rows) {
      return part.name + " is not inside";
    }
    for (int y = area.y; y < area.y + area.height; ++y) {
      for (int x = area.x; x < area.x + area.width; ++x) {
        char& cell = taken[static_cast<std::size_t>(y * columns + x)];
        if (cell != 0) return part.name + " lies over another part";
        cell = 1;
      }
    }
  }
  return {};
}

LayoutInput input_of(int columns, int rows, int gpus, bool has_mig) {
  LayoutInput input;
  input.columns = columns;
  input.rows = rows;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    input.is_mig.push_back(false);
    for (int mig = 0; has_mig && mig < gpu % 4; ++mig) input.is_mig.push_back(true);
  }
  return input;
}

TEST(TuiLayout, IsInsideAndWithoutOverlapAtEverySize) {
  for (int columns = 20; columns <= 300; columns += columns < 100 ? 1 : 7) {
    for (int rows = 5; rows <= 100; rows += rows < 30 ? 1 : 5) {
      for (int gpus = 0; gpus <= 16; gpus += gpus < 4 ? 1 : 4) {
        for (const std::size_t processes : {std::size_t{0}, std::size_t{3}, std::size_t{1000}}) {
          LayoutInput input = input_of(columns, rows, gpus, processes == 3);
          input.processes = processes;
          input.notes = processes == 0 ? 1 : 6;
          const Layout layout = lay_out(input);
          ASSERT_FALSE(layout.is_too_small);
          const std::string problem = problem_of(layout, columns, rows);
          ASSERT_EQ(problem, "") << columns << "x" << rows << ", " << gpus << " GPUs, " << processes << " processes";
          ASSERT_EQ(layout.keys, (Rect{0, rows - 1, columns, 1}));
          ASSERT_TRUE(gpus == 0 || !layout.meters.empty()) << columns << "x" << rows;
          ASSERT_GE(layout.processes.height, 2) << columns << "x" << rows << ", " << gpus << " GPUs";
        }
      }
    }
  }
}

TEST(TuiLayout, LeavesOutWhatIsNotWanted) {
  for (const bool show_plots : {false, true}) {
    for (const bool show_processes : {false, true}) {
      LayoutInput input = input_of(120, 40, 2, false);
      input.processes = 10;
      input.show_plots = show_plots;
      input.show_processes = show_processes;
      const Layout layout = lay_out(input);
      EXPECT_EQ(problem_of(layout, 120, 40), "");
      EXPECT_EQ(layout.plots.size(), show_plots ? 2U : 0U);
      EXPECT_EQ(!layout.processes.is_empty(), show_processes);
    }
  }
}

TEST(TuiLayout, IsTooSmallBelowTheLeast) {
  EXPECT_TRUE(lay_out(input_of(19, 24, 1, false)).is_too_small);
  EXPECT_TRUE(lay_out(input_of(80, 4, 1, false)).is_too_small);
  EXPECT_FALSE(lay_out(input_of(20, 5, 1, false)).is_too_small);
}

TEST(TuiLayout, ShowsAllDevicesBeforePlots) {
  // 16 GPUs in the smallest usual window: a line each, no plots, some processes.
  LayoutInput input = input_of(80, 24, 16, false);
  input.processes = 200;
  input.notes = 1;
  const Layout layout = lay_out(input);
  EXPECT_EQ(layout.meters.size(), 16U);
  EXPECT_EQ(layout.form, MeterForm::line);
  EXPECT_TRUE(layout.plots.empty());
  EXPECT_GE(layout.processes.height, 4);
  // And in a large one plots for each of them.
  input.columns = 300;
  input.rows = 100;
  const Layout large = lay_out(input);
  EXPECT_EQ(large.form, MeterForm::three_lines);
  EXPECT_EQ(large.plots.size(), 16U);
}

TEST(TuiLayout, TurnsPagesOfWhatDoesNotFit) {
  LayoutInput input = input_of(40, 12, 16, false);
  input.processes = 5;
  const Layout first = lay_out(input);
  ASSERT_FALSE(first.meters.empty());
  ASSERT_LT(first.meters.size(), 16U);
  EXPECT_EQ(first.meters.front().device, 0U);
  input.first_device = 5;
  EXPECT_EQ(lay_out(input).meters.front().device, 5U);
  input.first_device = 99;  // the window has grown, or devices have gone
  EXPECT_EQ(lay_out(input).meters.front().device, 15U);
}

TEST(TuiLayout, EveryPageOfPlotsIsFull) {
  LayoutInput input = input_of(100, 40, 16, false);
  input.processes = 100;
  const Layout first = lay_out(input);
  ASSERT_FALSE(first.plots.empty());
  ASSERT_LT(first.plots.size(), 16U);
  input.first_plot = 15;
  const Layout last = lay_out(input);
  EXPECT_EQ(last.plots.size(), first.plots.size());
  EXPECT_EQ(last.plots.back().device, 15U);
}

}  // namespace
}  // namespace vramscope::tui
