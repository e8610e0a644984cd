#include "tui/layout.h"

#include <algorithm>

namespace vramscope::tui {

namespace {

constexpr int kFewestPlotColumns = 30;
constexpr int kFewestPlotRows = 6;
constexpr int kGoodPlotRows = 9;
constexpr int kFewestProcessRows = 4;  // with the head
constexpr int kGoodProcessRows = 8;

int height_of(MeterForm form) {
  return static_cast<int>(form) + 1;
}

// Columns that a meter of that form should have, and how few it can do with.
int good_width(MeterForm form) {
  return form == MeterForm::line ? 66 : 80;
}
int least_width(MeterForm form) {
  return form == MeterForm::line ? kFewestScreenColumns : 60;
}

// Blocks side by side in equal parts of the width, row after row; MIG devices begin a row of their own.
std::vector<Block> place_meters(const LayoutInput& input, MeterForm form, const Rect& area, std::size_t first) {
  std::vector<Block> blocks;
  const std::size_t devices = input.is_mig.size();
  const int across = std::max(area.width / good_width(form), 1);
  int y = area.y;
  for (std::size_t i = first; i < devices;) {
    const bool is_mig = input.is_mig[i];
    const int height = is_mig ? 1 : height_of(form);
    if (y + height > area.y + area.height) break;
    for (int column = 0; column < across && i < devices && input.is_mig[i] == is_mig; ++column, ++i) {
      const int begin = area.width * column / across;
      const int end = area.width * (column + 1) / across;
      blocks.push_back({{area.x + begin, y, end - begin, height}, i});
    }
    y += height;
  }
  return blocks;
}

int rows_of(const std::vector<Block>& blocks, int y) {
  return blocks.empty() ? 0 : blocks.back().area.y + blocks.back().area.height - y;
}

// The richest form in which all devices fit into `most` rows; false when not even lines do.
bool choose_form(const LayoutInput& input, int most, MeterForm& form) {
  for (const MeterForm candidate : {MeterForm::three_lines, MeterForm::two_lines, MeterForm::line}) {
    if (input.columns < least_width(candidate) || most <= 0) continue;
    const std::vector<Block> blocks = place_meters(input, candidate, {0, 0, input.columns, most}, 0);
    if (blocks.size() < input.is_mig.size()) continue;
    form = candidate;
    return true;
  }
  form = MeterForm::line;
  return false;
}

std::vector<std::size_t> gpus_of(const LayoutInput& input) {
  std::vector<std::size_t> gpus;
  for (std::size_t i = 0; i < input.is_mig.size(); ++i) {
    if (!input.is_mig[i]) gpus.push_back(i);
  }
  return gpus;
}

// How many plots side by side: as few as leave each high enough to be read.
int plots_across(int count, int columns, int rows) {
  const int most = std::max(columns / kFewestPlotColumns, 1);
  for (const int height : {kGoodPlotRows, kFewestPlotRows}) {
    for (int across = 1; across <= most; ++across) {
      if (rows / ((count + across - 1) / across) >= height) return across;
    }
  }
  return most;
}

std::vector<Block> place_plots(const LayoutInput& input, const Rect& area) {
  std::vector<Block> blocks;
  const std::vector<std::size_t> gpus = gpus_of(input);
  if (gpus.empty() || area.height < kFewestPlotRows || area.width < kFewestPlotColumns) return blocks;
  const int count = static_cast<int>(gpus.size());
  const int across = std::min(plots_across(count, area.width, area.height), count);
  const int down = std::min((count + across - 1) / across, area.height / kFewestPlotRows);
  std::size_t next = std::min(input.first_plot, gpus.size() - 1);
  // The last page is full.
  const auto shown = static_cast<std::size_t>(across) * static_cast<std::size_t>(down);
  next = std::min(next, gpus.size() > shown ? gpus.size() - shown : 0);
  for (int row = 0; row < down; ++row) {
    const int top = area.height * row / down;
    const int bottom = area.height * (row + 1) / down;
    for (int column = 0; column < across && next < gpus.size(); ++column) {
      const int begin = area.width * column / across;
      const int end = area.width * (column + 1) / across;
      blocks.push_back({{area.x + begin, area.y + top, end - begin, bottom - top}, gpus[next++]});
    }
  }
  return blocks;
}

// Rows for plots out of what is left below the meters: what the processes do not need, and not less than 9/20.
int plot_rows(const LayoutInput& input, int left) {
  if (!input.show_plots || gpus_of(input).empty()) return 0;
  if (!input.show_processes) return left;
  const int needed = static_cast<int>(std::min<std::size_t>(input.processes, 10'000)) + 1;
  const int most = left - std::max(std::min(needed, kGoodProcessRows), kFewestProcessRows);
  const int rows = std::min(std::max(left * 9 / 20, left - needed), most);
  return rows < kFewestPlotRows || input.columns < kFewestPlotColumns ? 0 : rows;
}

}  // namespace

Rect centred(int columns, int rows, int width, int height) {
  width = std::min(width, columns);
  height = std::min(height, rows);
  return {(columns - width) / 2, (rows - height) / 2, width, height};
}

Layout lay_out(const LayoutInput& input) {
  Layout layout;
  const int columns = input.columns, rows = input.rows;
  if (columns < kFewestScreenColumns || rows < kFewestScreenRows) {
    layout.is_too_small = true;
    return layout;
  }
  int top = 0, bottom = rows - 1;
  layout.keys = {0, bottom, columns, 1};
  if (rows >= 12) layout.title = {0, top++, columns, 1};
  const int most_notes = rows >= 40 ? 4 : rows >= 24 ? 2 : rows >= 8 ? 1 : 0;
  if (const int notes = static_cast<int>(std::min<std::size_t>(input.notes, 100)); notes > 0 && most_notes > 0) {
    const int height = std::min(notes, most_notes);
    bottom -= height;
    layout.notes = {0, bottom, columns, height};
  }
  const int body = bottom - top;
  const int for_processes = input.show_processes ? std::min(kFewestProcessRows, body / 2) : 0;
  const int for_plots = input.show_plots ? kFewestPlotRows : 0;
  // Plots go before devices do.
  bool is_whole = choose_form(input, body - for_processes - for_plots, layout.form);
  if (!is_whole) is_whole = choose_form(input, body - for_processes, layout.form);
  const std::size_t last = input.is_mig.empty() ? 0 : input.is_mig.size() - 1;
  layout.meters = place_meters(input, layout.form, {0, top, columns, std::max(body - for_processes, 0)},
                               is_whole ? 0 : std::min(input.first_device, last));
  top += rows_of(layout.meters, top);
  const int for_all_plots = plot_rows(input, bottom - top);
  layout.plots = place_plots(input, {0, top, columns, for_all_plots});
  top += layout.plots.empty() ? 0 : for_all_plots;
  if (input.show_processes && bottom - top >= 2) layout.processes = {0, top, columns, bottom - top};
  return layout;
}

}  // namespace vramscope::tui
