#include "tui/ui_state.h"

#include <signal.h>

#include <algorithm>

#include "text/catalogue.h"

namespace vramscope::tui {

const std::array<SignalInfo, 10>& signal_table() {
  static constexpr std::array<SignalInfo, 10> kTable{
      {{SIGTERM, "SIGTERM", N_("asks it to end")},
       {SIGINT, "SIGINT", N_("as Ctrl-C: many programs save their state")},
       {SIGKILL, "SIGKILL", N_("ends it at once; nothing is saved")},
       {SIGHUP, "SIGHUP", N_("its terminal is gone")},
       {SIGQUIT, "SIGQUIT", N_("ends it with a core dump; Python may print its stacks")},
       {SIGSTOP, "SIGSTOP", N_("halts it; it keeps its memory")},
       {SIGCONT, "SIGCONT", N_("lets it go on")},
       {SIGUSR1, "SIGUSR1", N_("what the program makes of it")},
       {SIGUSR2, "SIGUSR2", N_("what the program makes of it")},
       {SIGABRT, "SIGABRT", N_("ends it as by abort()")}}};
  return kTable;
}

std::size_t dialog_rows(Mode mode) {
  switch (mode) {
    case Mode::sort:
    case Mode::columns:
      return kColumns;
    case Mode::curves:
      return kCurves + kChoices;
    case Mode::signal:
      return signal_table().size();
    default:
      return 0;
  }
}

const char* choice_title(Choice choice) {
  switch (choice) {
    case Choice::plots:
      return N_("show plots");
    case Choice::processes:
      return N_("show processes");
    case Choice::tree:
      return N_("processes as a tree");
    case Choice::newest_left:
      return N_("newest at the left of plots");
    case Choice::fahrenheit:
      return N_("temperatures in Fahrenheit");
  }
  return "";
}

bool& choice_flag(Setup& setup, Choice choice) {
  switch (choice) {
    case Choice::plots:
      return setup.show_plots;
    case Choice::processes:
      return setup.show_processes;
    case Choice::tree:
      return setup.is_tree;
    case Choice::newest_left:
      return setup.newest_left;
    case Choice::fahrenheit:
      break;
  }
  return setup.fahrenheit;
}

void settle(UiState& state, const View& view) {
  const std::size_t count = view.rows.size();
  if (count == 0) {
    state.cursor = state.first_row = 0;
    state.selected.reset();
  } else {
    const auto found =
        state.selected ? std::find(view.rows.begin(), view.rows.end(), *state.selected) : view.rows.end();
    if (found != view.rows.end()) {
      state.cursor = static_cast<std::size_t>(found - view.rows.begin());
    } else {
      state.cursor = std::min(state.cursor, count - 1);
      if (state.selected) state.selected = view.rows[state.cursor];
    }
  }
  const auto shown = static_cast<std::size_t>(std::max(view.table.height, 1));
  if (state.cursor < state.first_row) state.first_row = state.cursor;
  if (state.cursor >= state.first_row + shown) state.first_row = state.cursor - shown + 1;
  state.first_row = std::min(state.first_row, count > shown ? count - shown : 0);
}

}  // namespace vramscope::tui
