#pragma once
// What the user has done so far, and what a key does to it. Plain data and pure functions: no clock, no terminal.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "system/process.h"
#include "tui/frame.h"
#include "tui/setup.h"

namespace vramscope::tui {

// What is in front of the panels.
enum class Mode {
  main,
  filter,   // typing words into the bar at the bottom
  sort,     // choosing a column to sort by
  columns,  // choosing which columns are shown
  curves,   // choosing which curves are shown, and other things to keep
  signal,   // choosing a signal
  confirm,  // yes or no to the signal
  details,  // of one process
  verdicts,
  help
};

// A row of the table: a process on a device.
struct RowKey {
  ProcessKey process;
  std::size_t device = 0;
  bool operator==(const RowKey&) const = default;
};

struct SignalInfo {
  int number;
  const char* name;   // "SIGTERM"
  const char* about;  // English msgid
};
const std::array<SignalInfo, 10>& signal_table();

struct UiState {
  Setup setup;
  Mode mode = Mode::main;
  std::string filter;              // UTF-8
  std::string filter_before;       // what Esc brings back
  std::optional<RowKey> selected;  // follows its process through every new order
  std::size_t cursor = 0;          // its row, or the row it was last in
  std::size_t first_row = 0;       // of the table on the screen
  std::size_t command_offset = 0;  // columns of the command line that are scrolled away
  std::size_t choice = 0;          // row of the dialogue
  std::size_t first_line = 0;      // of a page of text that is scrolled
  std::size_t first_device = 0;    // see LayoutInput
  std::size_t first_plot = 0;
  std::optional<RowKey> target;  // of the signal: the process that was selected when the dialogue opened
  int signal = 0;
  bool with_environment = false;
  bool is_paused = false;
  std::string message;  // of the last action; until the next key
};

enum class Key {
  none,
  character,  // Input::character
  up,
  down,
  left,
  right,
  page_up,
  page_down,
  home,
  end,
  enter,
  escape,
  backspace,
  tab,
  f1,
  f2,
  f3,
  f4,
  f5,
  f6,
  f7,
  f8,
  f9,
  f10,
  f12,
  redraw,  // Ctrl-L
  quit,    // Ctrl-C
  click,   // at x, y
  double_click,
  wheel_up,
  wheel_down
};

struct Input {
  Key key = Key::none;
  char32_t character = 0;
  int x = 0, y = 0;  // of the mouse
};

// What the last frame showed: what keys and the mouse act upon.
struct View {
  std::vector<RowKey> rows;  // of the whole table, in its order
  Rect table;                // rows of processes on the screen, without the head
  Rect head;
  std::vector<std::pair<Rect, Column>> columns;  // in the head
  std::vector<std::pair<Rect, Input>> buttons;   // what a click on them stands for
  Rect dialog;                                   // rows of the dialogue's list on the screen
  std::size_t dialog_first = 0;                  // the row of the list at its top
  std::size_t lines = 0;                         // of the page of text
  std::size_t page = 0;                          // lines of it that are shown
  std::size_t hidden_devices = 0;
  std::size_t shown_plots = 0, gpus = 0;
  bool is_played_back = false;
};

enum class Action { none, quit, redraw, send_signal, save_setup };

// How many rows the dialogue of that mode has; 0: none.
std::size_t dialog_rows(Mode mode);
// The choices of Mode::curves behind the curves themselves.
enum class Choice { plots, processes, tree, newest_left, fahrenheit };
inline constexpr std::size_t kChoices = 5;
const char* choice_title(Choice choice);  // English msgid
bool& choice_flag(Setup& setup, Choice choice);

// Changes the state; the action is for the caller. send_signal: `signal` to `target`.
Action handle(UiState& state, const Input& input, const View& view);
// After the table has changed: finds the selected process again, keeps the cursor on the screen.
void settle(UiState& state, const View& view);

}  // namespace vramscope::tui
