// What keys and the mouse do: handle() of ui_state.h, one function for each mode.
#include <algorithm>

#include "tui/keys_filter.h"
#include "tui/ui_state.h"

namespace vramscope::tui {

namespace {

constexpr std::size_t kCommandStep = 8;

void open(UiState& state, Mode mode, std::size_t choice = 0) {
  state.mode = mode;
  state.choice = choice;
  state.first_line = 0;
}

std::size_t page_of(const View& view) {
  return static_cast<std::size_t>(std::max(view.table.height - 1, 1));
}

void move_to(UiState& state, const View& view, std::size_t row) {
  if (view.rows.empty()) return;
  state.cursor = std::min(row, view.rows.size() - 1);
  state.selected = view.rows[state.cursor];
}

std::size_t less(std::size_t value, std::size_t by) {
  return value > by ? value - by : 0;
}

// Moves something by the keys that move; false for other keys.
bool scroll(std::size_t& place, std::size_t page, std::size_t last, const Input& input) {
  const char32_t c = input.key == Key::character ? input.character : 0;
  if (input.key == Key::up || c == U'k') {
    place = less(place, 1);
  } else if (input.key == Key::down || c == U'j') {
    place += 1;
  } else if (input.key == Key::page_up) {
    place = less(place, page);
  } else if (input.key == Key::page_down) {
    place += page;
  } else if (input.key == Key::home) {
    place = 0;
  } else if (input.key == Key::end) {
    place = last;
  } else if (input.key == Key::wheel_up) {
    place = less(place, 3);
  } else if (input.key == Key::wheel_down) {
    place += 3;
  } else {
    return false;
  }
  place = std::min(place, last);
  return true;
}

void sort_by(UiState& state, Column column) {
  if (state.setup.sort == column) {
    state.setup.is_falling = !state.setup.is_falling;
  } else {
    state.setup.sort = column;
    state.setup.is_falling = info_of(column).falls_at_first;
  }
}

void open_signal(UiState& state, const View& view) {
  if (view.rows.empty()) return;
  move_to(state, view, state.cursor);
  state.target = state.selected;
  open(state, Mode::signal);
}

void open_details(UiState& state, const View& view) {
  if (view.rows.empty()) return;
  move_to(state, view, state.cursor);
  state.with_environment = false;
  open(state, Mode::details);
}

void zoom(UiState& state, bool in) {
  std::size_t& place = state.setup.zoom;
  if (in && place > 0) --place;
  if (!in && place + 1 < kWindows.size()) ++place;
}

// The next page of what does not fit: devices, plots.
void turn_page(UiState& state, const View& view) {
  const auto turn = [](std::size_t& first, std::size_t shown, std::size_t all) {
    first = first + shown >= all ? 0 : first + shown;
  };
  if (view.shown_plots > 0 && view.shown_plots < view.gpus) turn(state.first_plot, view.shown_plots, view.gpus);
  if (view.hidden_devices > 0) ++state.first_device;
  if (view.hidden_devices == 0) state.first_device = 0;
}

Action on_click(UiState& state, const Input& input, const View& view) {
  for (const auto& [area, column] : view.columns) {
    if (area.contains(input.x, input.y)) sort_by(state, column);
  }
  if (!view.table.contains(input.x, input.y)) return Action::none;
  const std::size_t row = state.first_row + static_cast<std::size_t>(input.y - view.table.y);
  if (row >= view.rows.size()) return Action::none;
  move_to(state, view, row);
  if (input.key == Key::double_click) open_details(state, view);
  return Action::none;
}

Action on_character(UiState& state, char32_t c, const View& view) {
  switch (c) {
    case U'q':
      return Action::quit;
    case U'?':
      open(state, Mode::help);
      break;
    case U'/':
      state.filter_before = state.filter;
      open(state, Mode::filter);
      break;
    case U'h':
      state.command_offset = less(state.command_offset, kCommandStep);
      break;
    case U'l':
      state.command_offset += kCommandStep;
      break;
    case U'+':
      state.setup.is_falling = false;
      break;
    case U'-':
      state.setup.is_falling = true;
      break;
    case U't':
      state.setup.is_tree = !state.setup.is_tree;
      break;
    case U's':
      open(state, Mode::sort, static_cast<std::size_t>(state.setup.sort));
      break;
    case U'c':
      open(state, Mode::columns);
      break;
    case U'x':
      open_signal(state, view);
      break;
    case U'v':
      open(state, Mode::verdicts);
      break;
    case U'z':
      zoom(state, true);
      break;
    case U'Z':
      zoom(state, false);
      break;
    case U'g':
      turn_page(state, view);
      break;
    case U' ':
    case U'p':
      state.is_paused = !state.is_paused;
      break;
    default:
      break;
  }
  return Action::none;
}

Action in_main(UiState& state, const Input& input, const View& view) {
  std::size_t row = state.cursor;
  const std::size_t last = view.rows.empty() ? 0 : view.rows.size() - 1;
  if (scroll(row, page_of(view), last, input)) {
    move_to(state, view, row);
    return Action::none;
  }
  switch (input.key) {
    case Key::character:
      return on_character(state, input.character, view);
    case Key::click:
    case Key::double_click:
      return on_click(state, input, view);
    case Key::left:
      return on_character(state, U'h', view);
    case Key::right:
      return on_character(state, U'l', view);
    case Key::tab:
      return on_character(state, U'g', view);
    case Key::enter:
      open_details(state, view);
      break;
    case Key::f1:
      open(state, Mode::help);
      break;
    case Key::f2:
      open(state, Mode::curves);
      break;
    case Key::f3:
    case Key::f4:
      return on_character(state, U'/', view);
    case Key::f5:
    case Key::redraw:
      return Action::redraw;
    case Key::f6:
      return on_character(state, U's', view);
    case Key::f7:
      open(state, Mode::columns);
      break;
    case Key::f8:
      open(state, Mode::verdicts);
      break;
    case Key::f9:
      open_signal(state, view);
      break;
    case Key::f10:
    case Key::quit:
      return Action::quit;
    case Key::escape:  // takes away the filter first, as a mistake should not end the watch
      if (state.filter.empty()) return Action::quit;
      state.filter.clear();
      break;
    case Key::f12:
      return Action::save_setup;
    default:
      break;
  }
  return Action::none;
}

// What Enter or Space on the chosen row does.
void choose(UiState& state, bool is_enter) {
  const std::size_t row = state.choice;
  switch (state.mode) {
    case Mode::sort: {
      const auto column = static_cast<Column>(row);
      if (state.setup.sort != column) state.setup.is_falling = info_of(column).falls_at_first;
      state.setup.sort = column;
      state.mode = Mode::main;
      break;
    }
    case Mode::columns:
      if (is_enter) {
        state.mode = Mode::main;
      } else {
        state.setup.columns[row] = !state.setup.columns[row];
      }
      break;
    case Mode::curves:
      if (is_enter) {
        state.mode = Mode::main;
      } else if (row < kCurves) {
        state.setup.curves[row] = !state.setup.curves[row];
      } else {
        bool& flag = choice_flag(state.setup, static_cast<Choice>(row - kCurves));
        flag = !flag;
      }
      break;
    case Mode::signal:
      state.signal = signal_table()[row].number;
      state.mode = Mode::confirm;
      break;
    default:
      break;
  }
}

Action in_dialog(UiState& state, const Input& input, const View& view) {
  const std::size_t rows = dialog_rows(state.mode);
  if (scroll(state.choice, static_cast<std::size_t>(std::max(view.dialog.height, 1)), rows - 1, input)) {
    return Action::none;
  }
  const bool is_space = input.key == Key::character && input.character == U' ';
  if (input.key == Key::enter || is_space) {
    choose(state, input.key == Key::enter);
  } else if (input.key == Key::click || input.key == Key::double_click) {
    const std::size_t row = view.dialog_first + static_cast<std::size_t>(std::max(input.y - view.dialog.y, 0));
    if (!view.dialog.contains(input.x, input.y)) {
      state.mode = Mode::main;
    } else if (row < rows) {
      state.choice = row;
      choose(state, false);
    }
  } else if (input.key == Key::escape || input.key == Key::quit || input.key == Key::f10 ||
             (input.key == Key::character && input.character == U'q')) {
    state.mode = Mode::main;
  } else if (input.key == Key::f12) {
    return Action::save_setup;
  } else if (input.key == Key::redraw || input.key == Key::f5) {
    return Action::redraw;
  } else if (state.mode == Mode::signal && input.key == Key::character && input.character >= U'1' &&
             input.character <= U'9') {
    const int number = static_cast<int>(input.character - U'0');  // as `kill -9`
    for (std::size_t i = 0; i < signal_table().size(); ++i) {
      if (signal_table()[i].number == number) state.choice = i;
    }
  }
  return Action::none;
}

// Only "y" says yes: Enter may be one too many.
Action in_confirm(UiState& state, const Input& input) {
  if (input.key == Key::redraw) return Action::redraw;
  if (input.key == Key::none) return Action::none;
  state.mode = Mode::main;
  const bool is_yes = input.key == Key::character && (input.character == U'y' || input.character == U'Y');
  return is_yes && state.target ? Action::send_signal : Action::none;
}

Action in_page(UiState& state, const Input& input, const View& view) {
  const std::size_t page = std::max<std::size_t>(view.page, 1);
  const std::size_t last = view.lines > page ? view.lines - page : 0;
  if (scroll(state.first_line, page, last, input)) return Action::none;
  const char32_t c = input.key == Key::character ? input.character : 0;
  if (input.key == Key::redraw || input.key == Key::f5) return Action::redraw;
  if (state.mode == Mode::details && c == U'e') {
    state.with_environment = !state.with_environment;
  } else if (state.mode == Mode::details && (c == U'x' || input.key == Key::f9)) {
    open_signal(state, view);
  } else if (c == U'z' || c == U'Z') {
    zoom(state, c == U'z');
  } else if (input.key == Key::escape || input.key == Key::enter || input.key == Key::quit || input.key == Key::f10 ||
             input.key == Key::f1 || input.key == Key::f8 || c == U'q' || c == U'?' || c == U'v') {
    state.mode = Mode::main;
  }
  return Action::none;
}

}  // namespace

Action handle(UiState& state, const Input& given, const View& view) {
  Input input = given;
  if (input.key == Key::none) return Action::none;
  if (input.key == Key::click) {
    for (const auto& [area, meaning] : view.buttons) {
      if (area.contains(given.x, given.y)) input = meaning;
    }
  }
  state.message.clear();
  switch (state.mode) {
    case Mode::main:
      return in_main(state, input, view);
    case Mode::filter:
      return in_filter(state, input);
    case Mode::sort:
    case Mode::columns:
    case Mode::curves:
    case Mode::signal:
      return in_dialog(state, input, view);
    case Mode::confirm:
      return in_confirm(state, input);
    case Mode::details:
    case Mode::verdicts:
    case Mode::help:
      return in_page(state, input, view);
  }
  return Action::none;
}

}  // namespace vramscope::tui
