// The history of a GPU: up to five curves in percent.
#include <algorithm>
#include <array>

#include "fmt/format.h"
#include "report/phrases.h"
#include "text/catalogue.h"
#include "text/utf8.h"
#include "tui/panels.h"

namespace vramscope::tui {

namespace {

constexpr int kAxisColumns = 4;
constexpr int kRowsForTimes = 8;

// Without colours, lines behind the first have dots in every second, then every fourth column.
std::size_t pitch_of(std::size_t line, bool colour) {
  return colour || line == 0 ? 1 : (line == 1 ? 2 : 4);
}

// "memory 61.0/80.0 GiB", "busy 93%"
std::string value_of(Curve curve, const SceneDevice& device, const Look& look) {
  switch (curve) {
    case Curve::memory:
      return part_of_bytes(device.memory_used, device.memory_total);
    case Curve::utilisation:
      return percent_text(device.busy);
    case Curve::temperature:
      return temperature_text(device.temperature, look.ui.setup.fahrenheit, look.ascii);
    case Curve::power:
      return power_text(device.power, device.power_limit);
    case Curve::fan:
      return percent_text(device.fan);
  }
  return {};
}

void draw_legend(Frame& frame, const Rect& area, const SceneDevice& device, const std::vector<Curve>& curves,
                 const Look& look) {
  const int end = area.x + area.width - 1;
  int x = area.x + frame.put(area.x, area.y, fmt::format("GPU {} ", device.label), Style::title, area.width);
  if (device.is_lost) {
    frame.put_elided(x, area.y, tr("lost"), Style::bad, end - x, look.ascii);
    return;
  }
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const std::string name = tr(curve_table()[static_cast<std::size_t>(curves[i])].title);
    const std::string value = value_of(curves[i], device, look);
    const int needed =
        3 + static_cast<int>(std::min<std::size_t>(display_width(name) + display_width(value), 1000)) + 1;
    if (x + needed > end) break;
    x += frame.put(x, area.y, sample_of_line(i, look.ascii, look.colour), curve_style(curves[i])) + 1;
    x += frame.put(x, area.y, name, Style::label) + 1;
    x += frame.put(x, area.y, value) + 2;
  }
}

void draw_axes(Frame& frame, const Rect& area, const Rect& field, const Look& look) {
  frame.put_right(area.x, field.y, "100", Style::dim, kAxisColumns - 1);
  frame.put_right(area.x, field.y + field.height - 1, "0", Style::dim, kAxisColumns - 1);
  if (field.height >= 5) {
    frame.put_right(area.x, field.y + (field.height - 1) / 2, "50", Style::dim, kAxisColumns - 1);
  }
  for (int y = field.y; y < field.y + field.height; ++y) {
    frame.set(field.x - 1, y, look.ascii ? "|" : "│", Style::dim);
  }
  if (field.y + field.height >= area.y + area.height) return;
  const int y = area.y + area.height - 1;
  const std::string ago = filled(tr("{time} ago"), fmt::arg("time", window_text(look.ui.setup.zoom)));
  const std::string now = tr("now");
  frame.put(field.x, y, look.ui.setup.newest_left ? now : ago, Style::dim, field.width);
  frame.put_right(field.x, y, look.ui.setup.newest_left ? ago : now, Style::dim, field.width);
}

// What a line has in each of the half levels of a column.
struct Extent {
  int low = 0, high = -1;
};

Extent extent_of(const LevelRange& range, int levels) {
  if (!range.is_known()) return {};
  const auto at = [&](int level) { return (level * (levels - 1) + LevelRange::kTop / 2) / LevelRange::kTop; };
  return {at(range.low), at(range.high)};
}

// Joins a column to the one before it, so that steep curves have no gaps.
Extent joined(Extent extent, const Extent& before) {
  if (extent.high < extent.low || before.high < before.low) return extent;
  if (before.high < extent.low) extent.low = before.high + 1;
  if (before.low > extent.high) extent.high = before.low - 1;
  return extent;
}

struct DotCell {
  std::uint8_t dots = 0;
  Style style = Style::normal;
};

void add_dots(std::vector<DotCell>& cells, const Rect& area, const LevelLine& line, std::size_t pitch) {
  constexpr std::array<std::array<std::uint8_t, 4>, 2> kBits{{{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}}};
  const int levels = area.height * 4;
  Extent before;
  for (std::size_t i = 0; i < line.pieces.size(); i += pitch) {
    LevelRange range = line.pieces[i];
    for (std::size_t k = i + 1; k < std::min(i + pitch, line.pieces.size()); ++k) range.add(line.pieces[k]);
    const Extent own = extent_of(range, levels);
    const Extent extent = joined(own, before);
    before = own;
    for (int level = extent.low; level <= extent.high; ++level) {
      const std::size_t row = static_cast<std::size_t>(area.height - 1 - level / 4);
      DotCell& cell = cells[row * static_cast<std::size_t>(area.width) + i / 2];
      cell.dots = static_cast<std::uint8_t>(cell.dots | kBits[i % 2][static_cast<std::size_t>(level % 4)]);
      cell.style = line.style;
    }
  }
}

void draw_braille(Frame& frame, const Rect& area, const std::vector<LevelLine>& lines, bool colour) {
  std::vector<DotCell> cells(static_cast<std::size_t>(area.width) * static_cast<std::size_t>(area.height));
  for (std::size_t i = lines.size(); i-- > 0;) add_dots(cells, area, lines[i], pitch_of(i, colour));
  for (int y = 0; y < area.height; ++y) {
    for (int x = 0; x < area.width; ++x) {
      const DotCell& cell = cells[static_cast<std::size_t>(y * area.width + x)];
      if (cell.dots == 0) continue;
      const char glyph[3] = {'\xE2', static_cast<char>(0xA0 | (cell.dots >> 6U)),
                             static_cast<char>(0x80 | (cell.dots & 0x3FU))};
      frame.set(area.x + x, area.y + y, {glyph, 3}, cell.style);
    }
  }
}

void draw_ascii(Frame& frame, const Rect& area, const std::vector<LevelLine>& lines) {
  constexpr std::array<std::array<const char*, 3>, 5> kGlyphs{
      {{"_", "-", "|"}, {".", "'", ":"}, {"o", "o", "o"}, {"x", "x", "x"}, {"+", "+", "+"}}};
  for (std::size_t i = lines.size(); i-- > 0;) {
    const auto& glyphs = kGlyphs[std::min(i, kGlyphs.size() - 1)];
    Extent before;
    for (std::size_t column = 0; column < lines[i].pieces.size(); ++column) {
      const Extent own = extent_of(lines[i].pieces[column], area.height * 2);
      const Extent extent = joined(own, before);
      before = own;
      if (extent.high < extent.low) continue;
      for (int row = extent.low / 2; row <= extent.high / 2; ++row) {
        const bool lower = extent.low <= row * 2, upper = extent.high >= row * 2 + 1;
        frame.set(area.x + static_cast<int>(column), area.y + area.height - 1 - row,
                  lower && upper ? glyphs[2]
                  : upper        ? glyphs[1]
                                 : glyphs[0],
                  lines[i].style);
      }
    }
  }
}

}  // namespace

std::size_t pieces_of(int columns, bool ascii) {
  return static_cast<std::size_t>(std::max(columns, 0)) * (ascii ? 1 : 2);
}

std::string_view sample_of_line(std::size_t index, bool ascii, bool colour) {
  constexpr std::array<std::string_view, 5> kAscii{"-", ".", "o", "x", "+"};
  constexpr std::array<std::string_view, 3> kBraille{"⠒⠒", "⠂⠂", "⠂ "};
  if (ascii) return kAscii[std::min(index, kAscii.size() - 1)];
  return kBraille[colour ? 0 : std::min<std::size_t>(index, 2)];
}

void draw_levels(Frame& frame, const Rect& area, const std::vector<LevelLine>& lines, bool ascii, bool colour) {
  if (area.is_empty()) return;
  if (ascii) {
    draw_ascii(frame, area, lines);
  } else {
    draw_braille(frame, area, lines, colour);
  }
}

void draw_plot(Frame& frame, const Block& block, const Look& look) {
  const SceneDevice& device = look.scene.devices[block.device];
  const Rect& area = block.area;
  const int times = area.height >= kRowsForTimes ? 1 : 0;
  const Rect field{area.x + kAxisColumns, area.y + 1, area.width - kAxisColumns - 1, area.height - 1 - times};
  if (field.is_empty()) return;
  std::vector<Curve> curves;
  for (std::size_t i = 0; i < kCurves; ++i) {
    if (look.ui.setup.curves[i]) curves.push_back(static_cast<Curve>(i));
  }
  draw_legend(frame, area, device, curves, look);
  draw_axes(frame, area, field, look);
  std::vector<LevelLine> lines;
  for (const Curve curve : curves) {
    LevelLine line;
    line.style = curve_style(curve);
    line.pieces.resize(pieces_of(field.width, look.ascii));
    device.curves[static_cast<std::size_t>(curve)].pieces(look.ui.setup.zoom, look.scene.time_ns, line.pieces);
    if (look.ui.setup.newest_left) std::reverse(line.pieces.begin(), line.pieces.end());
    lines.push_back(std::move(line));
  }
  draw_levels(frame, field, lines, look.ascii, look.colour);
}

}  // namespace vramscope::tui
