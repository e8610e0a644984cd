// The table of processes.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "fmt/format.h"
#include "report/phrases.h"
#include "report/process_words.h"
#include "text/catalogue.h"
#include "text/format.h"
#include "text/utf8.h"
#include "text/width.h"
#include "tui/panels.h"

namespace vramscope::tui {

namespace {

struct Placed {
  Column column;
  int x = 0;
  int width = 0;
};

// The columns that fit, from the left; those with the highest `drop` go first. The command line takes the rest.
std::vector<Placed> place_columns(const Setup& setup, int width) {
  std::vector<Placed> placed;
  int used = 0;
  for (std::size_t i = 0; i < kColumns; ++i) {
    if (!setup.columns[i]) continue;
    const auto column = static_cast<Column>(i);
    placed.push_back({column, 0, info_of(column).width});
    used += info_of(column).width + 1;
  }
  while (used - 1 > width && placed.size() > 1) {
    const auto goes = std::max_element(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
      return info_of(a.column).drop < info_of(b.column).drop;
    });
    if (info_of(goes->column).drop == 0) break;
    used -= goes->width + 1;
    placed.erase(goes);
  }
  int x = 0;
  for (Placed& one : placed) {
    one.x = x;
    if (one.column == Column::command) one.width = std::max(one.width, one.width + width - (used - 1));
    x += one.width + 1;
  }
  return placed;
}

Style memory_style(const SceneProcess& process) {
  if (process.growth == GrowthState::growing) return Style::warning;
  return Style::normal;
}

std::string_view type_text(const SceneProcess& process) {
  if (process.type == ProcessType::graphics) return "G";
  if (process.type == ProcessType::compute_and_graphics) return "C+G";
  return process.is_mps ? "M+C" : "C";
}

void draw_share(Frame& frame, int x, int y, int width, std::optional<double> share) {
  constexpr int kNumber = 4;
  if (!share) {
    frame.put_right(x, y, tr("N/A"), Style::dim, width);
    return;
  }
  const int bar = width - kNumber;
  const int full = static_cast<int>(std::lround(std::clamp(*share, 0.0, 1.0) * bar));
  frame.fill({x, y, full, 1}, '|', load_style(*share));
  char text[8];
  const auto end = fmt::format_to_n(text, sizeof text, "{:.0f}%", std::clamp(*share, 0.0, 9.99) * 100).out;
  frame.put_right(x + bar, y, {text, static_cast<std::size_t>(end - text)}, Style::normal, kNumber);
}

// Levels 0 to 4 of each piece; what hardly changes stays in the middle.
void draw_trend(Frame& frame, int x, int y, int width, const SceneProcess& process, bool ascii) {
  constexpr float kLeastRange = 0.1F;  // what changes by less than a tenth fills less than the height
  float low = -1, high = -1;
  for (const float value : process.trend) {
    if (value < 0) continue;
    low = low < 0 ? value : std::min(low, value);
    high = std::max(high, value);
  }
  if (high <= 0) return;
  const float range = std::max(high - low, high * kLeastRange);
  const float floor = (high + low - range) / 2;
  const auto level = [&](float value) {
    return value < 0 ? 0 : std::clamp(1 + static_cast<int>((value - floor) / range * 3.49F), 1, 4);
  };
  constexpr std::uint8_t kLeft[] = {0, 0x40, 0x44, 0x46, 0x47}, kRight[] = {0, 0x80, 0xA0, 0xB0, 0xB8};
  const Style style = process.growth == GrowthState::growing ? Style::warning : Style::curve_0;
  for (int i = 0; i < std::min(width, static_cast<int>(process.trend.size() / 2)); ++i) {
    const auto place = static_cast<std::size_t>(i) * 2;
    const int left = level(process.trend[place]), right = level(process.trend[place + 1]);
    if (left == 0 && right == 0) continue;
    if (ascii) {
      constexpr std::string_view kMarks = " _.-^";
      frame.set(x + i, y, kMarks.substr(static_cast<std::size_t>(std::max(left, right)), 1), style);
      continue;
    }
    const unsigned dots = static_cast<unsigned>(kLeft[left] | kRight[right]);
    const char glyph[3] = {'\xE2', static_cast<char>(0xA0 | (dots >> 6U)), static_cast<char>(0x80 | (dots & 0x3FU))};
    frame.set(x + i, y, {glyph, 3}, style);
  }
}

// What stands in a cell that is a plain text, and how.
struct CellText {
  std::string text;
  Style style = Style::normal;
};

CellText known(std::string text, Style style = Style::normal) {
  return {std::move(text), style};
}
CellText unknown() {
  return {tr("N/A"), Style::dim};
}
CellText percent(std::optional<std::int64_t> value) {
  return value ? known(fmt::format_int(*value).str(), *value == 0 ? Style::dim : Style::normal) : unknown();
}

CellText state_cell(const SceneProcess& process) {
  std::string word = state_word(process.presence, process.state);
  if (process.presence != Presence::seen) return {std::move(word), Style::dim};
  const ProcessTrouble trouble = state_trouble(process.state);
  if (trouble == ProcessTrouble::none) return {std::move(word), Style::normal};
  return {std::move(word), trouble == ProcessTrouble::dead ? Style::bad : Style::warning};
}

CellText cell_text(const SceneProcess& process, Column column) {
  switch (column) {
    case Column::pid:
      return known(fmt::format_int(process.key.pid).str());
    case Column::user:
      return process.user.empty() ? unknown() : known(process.user);
    case Column::gpu:
      return known(process.device_label);
    case Column::type:
      return known(std::string(type_text(process)));
    case Column::gpu_share:
      return percent(process.gpu_share);
    case Column::encoder:
      return percent(process.encoder);
    case Column::decoder:
      return percent(process.decoder);
    case Column::memory:
      return process.used_bytes ? known(format_bytes(*process.used_bytes), memory_style(process)) : unknown();
    case Column::cpu:
      return process.cpu_percent ? known(fmt::format_int(std::lround(*process.cpu_percent)).str()) : unknown();
    case Column::host_memory:
      return process.host_bytes ? known(format_bytes(*process.host_bytes)) : unknown();
    case Column::age:
      return process.age_ns ? known(age_text(process.age_ns)) : unknown();
    case Column::state:
      return state_cell(process);
    case Column::place:
      return known(process.place);
    case Column::command:
    case Column::memory_share:
    case Column::trend:
      break;
  }
  return {};
}

// From that column of the text on.
std::string_view scrolled(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (std::size_t used = 0; at < text.size() && used < columns;) {
    const CodePoint point = decode(text, at);
    used += code_point_width(point.value);
    at += point.bytes;
  }
  return text.substr(at);
}

void draw_command(Frame& frame, int x, int y, int width, const SceneProcess& process, const ProcessRow& row,
                  const Look& look) {
  const int branch = frame.put(x, y, row.branch, Style::dim, width);
  x += branch;
  width -= branch;
  if (process.command.empty()) {
    frame.put_elided(x, y, state_word(process.presence, process.state), Style::dim, width, look.ascii);
    return;
  }
  frame.put_elided(x, y, scrolled(process.command, look.ui.command_offset), Style::normal, width, look.ascii);
}

void draw_row(Frame& frame, const Rect& line, const std::vector<Placed>& columns, const ProcessRow& row,
              const Look& look) {
  const SceneProcess& process = look.scene.processes[row.process];
  for (const Placed& one : columns) {
    const int x = line.x + one.x;
    const int width = std::min(one.width, line.x + line.width - x);
    if (width <= 0) break;
    if (one.column == Column::memory_share) {
      draw_share(frame, x, line.y, width, process.memory_share);
    } else if (one.column == Column::trend) {
      draw_trend(frame, x, line.y, width, process, look.ascii);
    } else if (one.column == Column::command) {
      draw_command(frame, x, line.y, width, process, row, look);
    } else {
      const CellText cell = cell_text(process, one.column);
      if (info_of(one.column).is_right && display_width(cell.text) <= static_cast<std::size_t>(width)) {
        frame.put_right(x, line.y, cell.text, cell.style, width);
      } else {
        frame.put_elided(x, line.y, cell.text, cell.style, width, look.ascii);
      }
    }
  }
}

void draw_head(Frame& frame, const Rect& line, const std::vector<Placed>& columns, const Look& look, View& view) {
  frame.fill(line, ' ', Style::heading);
  for (const Placed& one : columns) {
    std::string title = tr(info_of(one.column).title);
    if (one.column == look.ui.setup.sort) {
      title += look.ascii ? (look.ui.setup.is_falling ? "v" : "^") : (look.ui.setup.is_falling ? "▼" : "▲");
    }
    const int x = line.x + one.x;
    const int width = std::min(one.width, line.x + line.width - x);
    if (width <= 0) break;
    if (info_of(one.column).is_right) {
      frame.put_right(x, line.y, title, Style::heading, width);
    } else {
      frame.put(x, line.y, title, Style::heading, width);
    }
    view.columns.emplace_back(Rect{x, line.y, width, 1}, one.column);
  }
}

std::string empty_text(const Look& look) {
  const Scene& scene = look.scene;
  if (scene.sample_count == 0) return {};
  if (!scene.processes.empty()) return tr("No process matches the filter; Esc takes it away.");
  const bool is_hidden = std::any_of(scene.devices.begin(), scene.devices.end(),
                                     [](const SceneDevice& device) { return device.hides_processes; });
  if (is_hidden) return tr("The processes are not for you to see; look as root.");
  return scene.devices.empty() ? "" : tr("No process uses a GPU, as far as can be seen from here.");
}

}  // namespace

void draw_processes(Frame& frame, const Rect& area, const Look& look, View& view) {
  const std::vector<Placed> columns = place_columns(look.ui.setup, area.width);
  view.head = {area.x, area.y, area.width, 1};
  draw_head(frame, view.head, columns, look, view);
  if (look.rows.empty()) {
    frame.put_elided(area.x + 1, area.y + 1, empty_text(look), Style::dim, area.width - 1, look.ascii);
    return;
  }
  for (int i = 0; i < area.height - 1; ++i) {
    const std::size_t at = look.ui.first_row + static_cast<std::size_t>(i);
    if (at >= look.rows.size()) break;
    const Rect line{area.x, area.y + 1 + i, area.width, 1};
    draw_row(frame, line, columns, look.rows[at], look);
    if (look.ui.selected && at == look.ui.cursor) frame.restyle(line.x, line.y, line.width, Style::selected);
  }
}

}  // namespace vramscope::tui
