#include "text/curve.h"

#include <algorithm>

#include "text/curve_raster.h"
#include "text/curve_ticks.h"
#include "text/utf8.h"

namespace vramscope {
namespace {

constexpr std::size_t kMostColumns = 2000;
constexpr std::size_t kMostRows = 200;
constexpr std::size_t kLeastColumns = 8;        // of the plot area
constexpr std::size_t kLabelsNeedColumns = 16;  // of the plot area, else the value labels are left out

// Texts side by side on one line.
class Lane {
 public:
  explicit Lane(std::size_t width) : taken_(width, false) {}

  // False when it does not fit there with a blank on both sides.
  bool place(std::size_t column, const std::string& text) {
    const std::size_t width = display_width(text);
    if (column + width > taken_.size()) return false;
    const std::size_t begin = column > 0 ? column - 1 : 0;
    const std::size_t end = std::min(taken_.size(), column + width + 1);
    for (std::size_t i = begin; i < end; ++i) {
      if (taken_[i]) return false;
    }
    for (std::size_t i = column; i < column + width; ++i) taken_[i] = true;
    const auto after =
        std::find_if(texts_.begin(), texts_.end(), [&](const auto& each) { return each.first > column; });
    texts_.insert(after, {column, text});
    return true;
  }
  std::string text() const {
    std::string out;
    std::size_t at = 0;
    for (const auto& [column, text] : texts_) {
      out.append(column - at, ' ');
      out += text;
      at = column + display_width(text);
    }
    return out;
  }

 private:
  std::vector<bool> taken_;
  std::vector<std::pair<std::size_t, std::string>> texts_;
};

struct Frame {
  std::size_t label_columns = 0;  // of the value axis, without the axis itself
  std::size_t columns = 0;        // of the plot area
  std::string margin() const { return std::string(label_columns, ' '); }
};

Frame fit(const std::vector<Tick>& ticks, std::size_t width) {
  Frame frame;
  for (const Tick& tick : ticks) frame.label_columns = std::max(frame.label_columns, display_width(tick.label) + 1);
  if (frame.label_columns + 1 + kLabelsNeedColumns > width) frame.label_columns = 0;
  const std::size_t taken = frame.label_columns + 1;
  frame.columns = std::max(kLeastColumns, width > taken ? width - taken : 0);
  return frame;
}

void append(std::string& out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

void append_area(std::string& out, const std::vector<std::string>& rows, const std::vector<Tick>& ticks,
                 const Frame& frame, bool ascii) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto tick = std::find_if(ticks.begin(), ticks.end(), [&](const Tick& each) { return each.at == row; });
    const bool marked = tick != ticks.end();
    std::string label = frame.margin();
    if (marked && frame.label_columns > 0) {
      label = std::string(frame.label_columns - 1 - display_width(tick->label), ' ') + tick->label + " ";
    }
    const char* axis = ascii ? (marked ? "+" : "|") : (marked ? "┤" : "│");
    append(out, label + axis + rows[row]);
  }
}

void append_time_axis(std::string& out, const std::vector<Tick>& ticks, const Frame& frame, bool ascii) {
  std::vector<bool> marked(frame.columns, false);
  Lane labels(frame.label_columns + 1 + frame.columns);
  for (const Tick& tick : ticks) {
    const std::size_t width = display_width(tick.label);
    const std::size_t centre = frame.label_columns + 1 + tick.at;
    std::size_t start = centre - std::min(centre, width / 2);
    const std::size_t most = frame.label_columns + 1 + frame.columns;
    if (start + width > most) start = most - std::min(most, width);
    if (labels.place(start, tick.label)) marked[tick.at] = true;
  }
  std::string line = frame.margin() + (ascii ? "+" : "└");
  for (const bool tick : marked) line += ascii ? (tick ? "+" : "-") : (tick ? "┬" : "─");
  append(out, line);
  append(out, labels.text());
}

bool place_mark(Lane& lane, std::size_t column, const std::string& label, const char* arrow) {
  if (label.empty()) return lane.place(column, arrow);
  if (lane.place(column, arrow + (" " + label))) return true;
  const std::size_t width = display_width(label) + 1;
  return column >= width && lane.place(column - width, label + " " + arrow);
}

void append_marks(std::string& out, const std::vector<CurveMark>& marks, const CurveWindow& window, const Frame& frame,
                  bool ascii) {
  constexpr std::size_t kMostLanes = 8;
  const std::size_t origin = frame.label_columns + 1;
  std::vector<Lane> lanes;
  for (const CurveMark& mark : marks) {
    if (mark.time < window.begin_time || mark.time > window.end_time) continue;
    const std::string label = elide_end(printable(mark.label), frame.columns / 2, ascii);
    const std::size_t column = origin + column_of(window, mark.time, frame.columns);
    const char* arrow = ascii ? "^" : "▲";
    bool placed = false;
    for (std::size_t i = 0; !placed && i < kMostLanes; ++i) {
      if (i == lanes.size()) lanes.emplace_back(origin + frame.columns);
      placed = place_mark(lanes[i], column, label, arrow);
    }
  }
  for (const Lane& lane : lanes) {
    if (const std::string text = lane.text(); !text.empty()) append(out, text);
  }
}

void append_legend(std::string& out, const std::vector<CurveLine>& lines, const Frame& frame, std::size_t width,
                   bool ascii) {
  std::string line;
  std::size_t used = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string label = elide_end(printable(lines[i].label), std::max(kLeastColumns, frame.columns / 2), ascii);
    const std::size_t needed = 2 + 1 + display_width(label);
    if (used > 0 && used + 3 + needed > width) {
      append(out, line);
      used = 0;
    }
    line = used == 0 ? std::string(frame.label_columns + 1, ' ') : line + "   ";
    used = (used == 0 ? frame.label_columns + 1 : used + 3) + needed;
    line += line_sample(i, ascii) + " " + label;
  }
  append(out, line);
}

}  // namespace

std::string plot(const std::vector<CurveLine>& lines, const std::vector<CurveMark>& marks,
                 const CurveOptions& options) {
  CurveOptions bounded = options;
  bounded.width = std::min(options.width, kMostColumns);
  bounded.height = std::clamp<std::size_t>(options.height, 1, kMostRows);
  CurveWindow window;
  if (!find_window(lines, options.from_zero, window)) return "";
  const std::vector<Tick> values = value_ticks(window, bounded);
  const Frame frame = fit(values, bounded.width);
  std::string out;
  append_area(out, draw(lines, window, frame.columns, bounded), values, frame, options.ascii);
  append_time_axis(out, time_ticks(window, frame.columns, bounded), frame, options.ascii);
  append_marks(out, marks, window, frame, options.ascii);
  if (lines.size() > 1) append_legend(out, lines, frame, bounded.width, options.ascii);
  return out;
}

}  // namespace vramscope
