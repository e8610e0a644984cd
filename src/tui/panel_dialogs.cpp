// Dialogues: a list in a box, one row chosen.
#include <algorithm>

#include "fmt/format.h"
#include "report/phrases.h"
#include "text/catalogue.h"
#include "text/utf8.h"
#include "text/wrap.h"
#include "tui/panels.h"

namespace vramscope::tui {

namespace {

struct DialogRow {
  std::string mark;  // "[x]"
  std::string name;
  std::string about;
};

std::string mark_of(bool is_on) {
  return is_on ? "[x]" : "[ ]";
}

DialogRow row_of(const UiState& ui, std::size_t row) {
  const Setup& setup = ui.setup;
  switch (ui.mode) {
    case Mode::sort: {
      const ColumnInfo& info = column_table()[row];
      return {setup.sort == static_cast<Column>(row) ? " * " : "   ", tr(info.title), tr(info.about)};
    }
    case Mode::columns: {
      const ColumnInfo& info = column_table()[row];
      return {mark_of(setup.columns[row]), tr(info.title), tr(info.about)};
    }
    case Mode::curves:
      if (row < kCurves) {
        return {mark_of(setup.curves[row]), tr(curve_table()[row].title), tr("curve in the plots")};
      } else {
        Setup copy = setup;
        const auto choice = static_cast<Choice>(row - kCurves);
        return {mark_of(choice_flag(copy, choice)), tr(choice_title(choice)), ""};
      }
    case Mode::signal: {
      const SignalInfo& info = signal_table()[row];
      return {fmt::format("{:>2} ", info.number), info.name, tr(info.about)};
    }
    default:
      return {};
  }
}

std::string title_of(const UiState& ui) {
  switch (ui.mode) {
    case Mode::sort:
      return tr("Sort by");
    case Mode::columns:
      return tr("Columns");
    case Mode::curves:
      return tr("Setup");
    case Mode::signal:
      return filled(tr("Signal to process {pid}"), fmt::arg("pid", ui.target ? ui.target->process.pid : 0));
    default:
      return {};
  }
}

void draw_list(Frame& frame, const Look& look, View& view) {
  const UiState& ui = look.ui;
  const auto count = static_cast<int>(dialog_rows(ui.mode));
  constexpr int kWidest = 70;
  const Rect box = centred(frame.columns(), frame.rows() - 1, kWidest, count + 2);
  const Rect inside = draw_box(frame, box, title_of(ui), look);
  if (inside.is_empty()) return;
  const auto shown = static_cast<std::size_t>(inside.height);
  view.dialog = inside;
  view.dialog_first = ui.choice >= shown ? ui.choice - shown + 1 : 0;
  std::size_t names = 0;
  for (std::size_t i = 0; i < dialog_rows(ui.mode); ++i) {
    const DialogRow row = row_of(ui, i);
    if (!row.about.empty()) names = std::max(names, display_width(row.name));
  }
  for (int i = 0; i < inside.height; ++i) {
    const std::size_t at = view.dialog_first + static_cast<std::size_t>(i);
    if (at >= dialog_rows(ui.mode)) break;
    const DialogRow row = row_of(ui, at);
    const int y = inside.y + i;
    int x = inside.x + 1;
    const int end = inside.x + inside.width;
    x += frame.put(x, y, row.mark, Style::bold, end - x) + 1;
    frame.put_elided(x, y, row.name, Style::normal, end - x, look.ascii);
    x += static_cast<int>(names) + 2;
    frame.put_elided(x, y, row.about, Style::dim, end - x, look.ascii);
    if (at == ui.choice) frame.restyle(inside.x, y, inside.width, Style::selected);
  }
}

const SceneProcess* target_of(const Look& look) {
  for (const SceneProcess& process : look.scene.processes) {
    if (look.ui.target && process.key == look.ui.target->process) return &process;
  }
  return nullptr;
}

void draw_confirm(Frame& frame, const Look& look) {
  const SceneProcess* process = target_of(look);
  std::string name = std::to_string(look.ui.signal);
  for (const SignalInfo& info : signal_table()) {
    if (info.number == look.ui.signal) name = info.name;
  }
  const std::string question =
      filled(tr("Send {signal} to process {pid} of user {user}?"), fmt::arg("signal", name),
             fmt::arg("pid", look.ui.target ? look.ui.target->process.pid : 0),
             fmt::arg("user", process != nullptr && !process->user.empty() ? process->user : tr("N/A")));
  constexpr int kWidest = 70;
  const int width = std::min(kWidest, frame.columns());
  std::vector<std::string> lines = wrap_lines(question, static_cast<std::size_t>(std::max(width - 4, 8)));
  if (process != nullptr) lines.push_back(process->command);
  lines.push_back(tr("y: yes    any other key: no"));
  const Rect box = centred(frame.columns(), frame.rows() - 1, kWidest,
                           static_cast<int>(std::min<std::size_t>(lines.size(), 50)) + 2);
  const Rect inside = draw_box(frame, box, tr("Are you sure?"), look);
  for (int i = 0; i < std::min(inside.height, static_cast<int>(lines.size())); ++i) {
    const bool is_last = i + 1 == static_cast<int>(lines.size());
    frame.put_elided(inside.x + 1, inside.y + i, lines[static_cast<std::size_t>(i)],
                     is_last ? Style::warning : Style::normal, inside.width - 2, look.ascii);
  }
}

}  // namespace

void draw_dialog(Frame& frame, const Look& look, View& view) {
  if (look.ui.mode == Mode::confirm) {
    draw_confirm(frame, look);
  } else if (dialog_rows(look.ui.mode) > 0) {
    draw_list(frame, look, view);
  }
}

}  // namespace vramscope::tui
