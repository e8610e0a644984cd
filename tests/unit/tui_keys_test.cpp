// What keys and the mouse do in `top`.
#include <gtest/gtest.h>
#include <signal.h>

#include "tui/ui_state.h"

namespace vramscope::tui {
namespace {

View view_of(std::size_t rows, int height = 10) {
  View view;
  for (std::size_t i = 0; i < rows; ++i) {
    view.rows.push_back({{static_cast<std::int32_t>(100 + i), 7}, 0});
  }
  view.table = {0, 5, 80, height};
  view.head = {0, 4, 80, 1};
  view.columns = {{{0, 4, 7, 1}, Column::pid}, {{8, 4, 10, 1}, Column::memory}};
  view.dialog = {10, 2, 40, 12};
  view.gpus = 1;
  return view;
}

Input key(Key what) {
  return {what};
}
Input letter(char32_t c) {
  return {Key::character, c};
}
Input click(int x, int y, Key what = Key::click) {
  return {what, 0, x, y};
}

TEST(TuiKeys, ArrowsAndLettersMoveTheCursor) {
  UiState ui;
  const View view = view_of(30);
  handle(ui, key(Key::down), view);
  EXPECT_EQ(ui.cursor, 1U);
  handle(ui, letter(U'j'), view);
  EXPECT_EQ(ui.cursor, 2U);
  handle(ui, letter(U'k'), view);
  handle(ui, key(Key::up), view);
  handle(ui, key(Key::up), view);
  EXPECT_EQ(ui.cursor, 0U);
  handle(ui, key(Key::page_down), view);
  EXPECT_EQ(ui.cursor, 9U);
  handle(ui, key(Key::end), view);
  EXPECT_EQ(ui.cursor, 29U);
  handle(ui, key(Key::down), view);
  EXPECT_EQ(ui.cursor, 29U);
  handle(ui, key(Key::page_up), view);
  EXPECT_EQ(ui.cursor, 20U);
  handle(ui, key(Key::home), view);
  EXPECT_EQ(ui.cursor, 0U);
  EXPECT_EQ(ui.selected->process.pid, 100);
}

TEST(TuiKeys, CursorFollowsItsProcess) {
  UiState ui;
  View view = view_of(30);
  handle(ui, key(Key::end), view);
  std::swap(view.rows[29], view.rows[3]);
  settle(ui, view);
  EXPECT_EQ(ui.cursor, 3U);
  view.rows.erase(view.rows.begin() + 3);  // it has ended: the cursor stays where it is
  settle(ui, view);
  EXPECT_EQ(ui.cursor, 3U);
  EXPECT_EQ(ui.selected, view.rows[3]);
  view.rows.clear();
  settle(ui, view);
  EXPECT_FALSE(ui.selected);
}

TEST(TuiKeys, TableScrollsWithTheCursor) {
  UiState ui;
  View view = view_of(30);
  handle(ui, key(Key::end), view);
  settle(ui, view);
  EXPECT_EQ(ui.first_row, 20U);
  handle(ui, key(Key::home), view);
  settle(ui, view);
  EXPECT_EQ(ui.first_row, 0U);
  view.table.height = 50;  // the window has grown
  ui.first_row = 20;
  settle(ui, view);
  EXPECT_EQ(ui.first_row, 0U);
}

TEST(TuiKeys, QuitsOnlyWhenNothingIsToBeTakenBack) {
  const View view = view_of(3);
  for (const Input& input : {key(Key::f10), letter(U'q'), key(Key::escape), key(Key::quit)}) {
    UiState ui;
    EXPECT_EQ(handle(ui, input, view), Action::quit);
  }
  UiState ui;
  ui.filter = "python";
  EXPECT_EQ(handle(ui, key(Key::escape), view), Action::none);
  EXPECT_EQ(ui.filter, "");
  EXPECT_EQ(handle(ui, key(Key::escape), view), Action::quit);
  for (const Mode mode : {Mode::help, Mode::details, Mode::verdicts, Mode::sort, Mode::columns, Mode::curves,
                          Mode::signal, Mode::confirm, Mode::filter}) {
    UiState other;
    other.mode = mode;
    EXPECT_EQ(handle(other, key(Key::escape), view), Action::none);
    EXPECT_EQ(other.mode, Mode::main);
  }
}

TEST(TuiKeys, FilterIsTypedAndTakenBack) {
  UiState ui;
  const View view = view_of(3);
  handle(ui, letter(U'/'), view);
  for (const char32_t c : std::u32string(U"q显k")) handle(ui, letter(c), view);
  EXPECT_EQ(ui.filter, "q显k");
  handle(ui, key(Key::backspace), view);
  handle(ui, key(Key::backspace), view);
  EXPECT_EQ(ui.filter, "q");  // a character, not a byte
  handle(ui, key(Key::enter), view);
  EXPECT_EQ(ui.mode, Mode::main);
  EXPECT_EQ(ui.filter, "q");
  handle(ui, key(Key::f4), view);
  handle(ui, letter(U'x'), view);
  handle(ui, key(Key::escape), view);
  EXPECT_EQ(ui.filter, "q");
}

TEST(TuiKeys, SortsByColumnAndTurnsTheOrder) {
  UiState ui;
  const View view = view_of(3);
  handle(ui, click(2, 4), view);
  EXPECT_EQ(ui.setup.sort, Column::pid);
  EXPECT_FALSE(ui.setup.is_falling);
  handle(ui, click(2, 4), view);
  EXPECT_TRUE(ui.setup.is_falling);
  handle(ui, letter(U'+'), view);
  EXPECT_FALSE(ui.setup.is_falling);
  handle(ui, letter(U'-'), view);
  EXPECT_TRUE(ui.setup.is_falling);
  handle(ui, key(Key::f6), view);
  EXPECT_EQ(ui.mode, Mode::sort);
  EXPECT_EQ(ui.choice, static_cast<std::size_t>(Column::pid));
  handle(ui, key(Key::down), view);
  handle(ui, key(Key::enter), view);
  EXPECT_EQ(ui.setup.sort, Column::user);
  EXPECT_FALSE(ui.setup.is_falling);  // names rise at first
  EXPECT_EQ(ui.mode, Mode::main);
}

TEST(TuiKeys, ColumnsAndCurvesAreSwitched) {
  UiState ui;
  const View view = view_of(3);
  handle(ui, key(Key::f7), view);
  handle(ui, letter(U' '), view);
  EXPECT_FALSE(ui.setup.shows(Column::pid));
  handle(ui, letter(U' '), view);
  EXPECT_TRUE(ui.setup.shows(Column::pid));
  handle(ui, key(Key::enter), view);
  EXPECT_EQ(ui.mode, Mode::main);
  handle(ui, key(Key::f2), view);
  for (std::size_t i = 0; i < kCurves + kChoices; ++i) {
    const tui::Setup before = ui.setup;
    handle(ui, letter(U' '), view);
    EXPECT_NE(ui.setup, before) << i;
    handle(ui, key(Key::down), view);
  }
  EXPECT_EQ(ui.choice, kCurves + kChoices - 1);
  EXPECT_EQ(handle(ui, key(Key::f12), view), Action::save_setup);
}

TEST(TuiKeys, SignalNeedsAYes) {
  const View view = view_of(5);
  const auto chosen = [&](const Input& answer) {
    UiState ui;
    handle(ui, key(Key::down), view);
    handle(ui, key(Key::f9), view);
    EXPECT_EQ(ui.mode, Mode::signal);
    handle(ui, letter(U'9'), view);
    handle(ui, key(Key::enter), view);
    EXPECT_EQ(ui.mode, Mode::confirm);
    EXPECT_EQ(ui.signal, SIGKILL);
    EXPECT_EQ(ui.target->process.pid, 101);
    return handle(ui, answer, view);
  };
  EXPECT_EQ(chosen(letter(U'y')), Action::send_signal);
  EXPECT_EQ(chosen(letter(U'n')), Action::none);
  EXPECT_EQ(chosen(key(Key::enter)), Action::none);  // it may be one too many
  EXPECT_EQ(chosen(key(Key::escape)), Action::none);
  EXPECT_EQ(chosen(click(1, 1)), Action::none);
}

TEST(TuiKeys, SignalIsForTheProcessThatWasChosen) {
  UiState ui;
  View view = view_of(5);
  handle(ui, key(Key::f9), view);
  handle(ui, key(Key::enter), view);
  view.rows.erase(view.rows.begin());  // it ends while the question is asked
  settle(ui, view);
  EXPECT_EQ(handle(ui, letter(U'y'), view), Action::send_signal);
  EXPECT_EQ(ui.target->process.pid, 100);
}

TEST(TuiKeys, WithoutProcessesThereIsNothingToSignalOrOpen) {
  UiState ui;
  const View view = view_of(0);
  for (const Input& input : {key(Key::f9), key(Key::enter), key(Key::down), key(Key::end), letter(U'x')}) {
    EXPECT_EQ(handle(ui, input, view), Action::none);
    EXPECT_EQ(ui.mode, Mode::main);
  }
}

TEST(TuiKeys, MouseChoosesAndOpens) {
  UiState ui;
  const View view = view_of(30);
  ui.first_row = 10;
  handle(ui, click(3, 7), view);
  EXPECT_EQ(ui.cursor, 12U);
  handle(ui, click(3, 7, Key::double_click), view);
  EXPECT_EQ(ui.mode, Mode::details);
  handle(ui, key(Key::escape), view);
  handle(ui, {Key::wheel_down}, view);
  EXPECT_EQ(ui.cursor, 15U);
  View with_button = view;
  with_button.buttons = {{{0, 23, 6, 1}, {Key::f1}}};
  handle(ui, click(2, 23), with_button);
  EXPECT_EQ(ui.mode, Mode::help);
}

TEST(TuiKeys, ZoomStaysWithinTheWindows) {
  UiState ui;
  const View view = view_of(1);
  for (int i = 0; i < 20; ++i) handle(ui, letter(U'Z'), view);
  EXPECT_EQ(ui.setup.zoom, kWindows.size() - 1);
  for (int i = 0; i < 20; ++i) handle(ui, letter(U'z'), view);
  EXPECT_EQ(ui.setup.zoom, 0U);
}

TEST(TuiKeys, EveryKeyInEveryModeIsHarmless) {
  const View views[] = {view_of(0), view_of(1), view_of(30), View()};
  for (int mode = 0; mode <= static_cast<int>(Mode::help); ++mode) {
    for (const View& view : views) {
      for (int what = 0; what <= static_cast<int>(Key::wheel_down); ++what) {
        UiState ui;
        ui.mode = static_cast<Mode>(mode);
        ui.choice = dialog_rows(ui.mode) > 0 ? dialog_rows(ui.mode) - 1 : 0;
        handle(ui, {static_cast<Key>(what), U'y', 3, 3}, view);
        settle(ui, view);
        EXPECT_LE(ui.cursor, view.rows.empty() ? 0 : view.rows.size() - 1);
        if (dialog_rows(ui.mode) > 0) {
          EXPECT_LT(ui.choice, dialog_rows(ui.mode));
        }
      }
      for (char32_t c = U' '; c < 0x7F; ++c) {
        UiState ui;
        ui.mode = static_cast<Mode>(mode);
        handle(ui, letter(c), view);
        settle(ui, view);
      }
    }
  }
}

}  // namespace
}  // namespace vramscope::tui
