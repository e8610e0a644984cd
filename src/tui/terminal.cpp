#include "tui/terminal.h"

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <locale.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <vector>

#include "fmt/format.h"
#include "text/catalogue.h"
#include "text/utf8.h"
#include "text/width.h"

namespace vramscope::tui {

namespace {

struct Looks {
  attr_t attributes = A_NORMAL;
  short pair = 0;
};

constexpr short kDefault = -1;

// Foreground, background and weight of a style, where there are colours.
struct Paint {
  short foreground;
  short background;
  attr_t weight;
};

Paint paint_of(Style style) {
  const short grey = COLORS >= 256 ? 244 : COLORS >= 16 ? 8 : kDefault;
  switch (style) {
    case Style::normal:
      return {kDefault, kDefault, A_NORMAL};
    case Style::dim:
      return {grey, kDefault, grey == kDefault ? A_DIM : A_NORMAL};
    case Style::bold:
      return {kDefault, kDefault, A_BOLD};
    case Style::title:
      return {COLOR_CYAN, kDefault, A_BOLD};
    case Style::label:
      return {COLOR_CYAN, kDefault, A_NORMAL};
    case Style::good:
      return {COLOR_GREEN, kDefault, A_NORMAL};
    case Style::warning:
      return {COLOR_YELLOW, kDefault, A_NORMAL};
    case Style::bad:
      return {COLOR_RED, kDefault, A_BOLD};
    case Style::curve_0:
      return {COLOR_CYAN, kDefault, A_NORMAL};
    case Style::curve_1:
      return {COLOR_YELLOW, kDefault, A_NORMAL};
    case Style::curve_2:
      return {COLOR_GREEN, kDefault, A_NORMAL};
    case Style::curve_3:
      return {COLOR_RED, kDefault, A_NORMAL};
    case Style::curve_4:
      return {static_cast<short>(COLORS >= 256 ? 111 : COLOR_BLUE), kDefault, A_NORMAL};
    case Style::heading:
      return {COLOR_BLACK, COLOR_GREEN, A_NORMAL};
    case Style::selected:
    case Style::key:
      return {COLOR_BLACK, COLOR_CYAN, A_NORMAL};
  }
  return {kDefault, kDefault, A_NORMAL};
}

attr_t weight_without_colour(Style style) {
  switch (style) {
    case Style::bold:
    case Style::title:
    case Style::bad:
    case Style::warning:
      return A_BOLD;
    case Style::dim:
      return A_DIM;
    case Style::heading:
    case Style::selected:
    case Style::key:
      return A_REVERSE;
    default:
      return A_NORMAL;
  }
}

// What terminals, and multiplexers between them and us, send in place of what TERM says.
void define_further_keys() {
  struct {
    const char* sequence;
    int code;
  } constexpr kKeys[] = {
      {"\033[H", KEY_HOME},    {"\033OH", KEY_HOME},   {"\033[1~", KEY_HOME},  {"\033[7~", KEY_HOME},
      {"\033[F", KEY_END},     {"\033OF", KEY_END},    {"\033[4~", KEY_END},   {"\033[8~", KEY_END},
      {"\033[A", KEY_UP},      {"\033OA", KEY_UP},     {"\033[B", KEY_DOWN},   {"\033OB", KEY_DOWN},
      {"\033[C", KEY_RIGHT},   {"\033OC", KEY_RIGHT},  {"\033[D", KEY_LEFT},   {"\033OD", KEY_LEFT},
      {"\033[5~", KEY_PPAGE},  {"\033[6~", KEY_NPAGE}, {"\033[3~", KEY_DC},    {"\033OP", KEY_F(1)},
      {"\033OQ", KEY_F(2)},    {"\033OR", KEY_F(3)},   {"\033OS", KEY_F(4)},   {"\033[11~", KEY_F(1)},
      {"\033[12~", KEY_F(2)},  {"\033[13~", KEY_F(3)}, {"\033[14~", KEY_F(4)}, {"\033[15~", KEY_F(5)},
      {"\033[17~", KEY_F(6)},  {"\033[18~", KEY_F(7)}, {"\033[19~", KEY_F(8)}, {"\033[20~", KEY_F(9)},
      {"\033[21~", KEY_F(10)}, {"\033[24~", KEY_F(12)}};
  for (const auto& key : kKeys) {
    if (key_defined(key.sequence) <= 0) define_key(key.sequence, key.code);
  }
}

Key key_of_code(wint_t code) {
  switch (code) {
    case KEY_UP:
      return Key::up;
    case KEY_DOWN:
      return Key::down;
    case KEY_LEFT:
      return Key::left;
    case KEY_RIGHT:
      return Key::right;
    case KEY_PPAGE:
      return Key::page_up;
    case KEY_NPAGE:
      return Key::page_down;
    case KEY_HOME:
      return Key::home;
    case KEY_END:
      return Key::end;
    case KEY_ENTER:
      return Key::enter;
    case KEY_BACKSPACE:
    case KEY_DC:
      return Key::backspace;
    default:
      break;
  }
  constexpr std::array<Key, 12> kFunctions{Key::f1, Key::f2, Key::f3, Key::f4,  Key::f5,   Key::f6,
                                           Key::f7, Key::f8, Key::f9, Key::f10, Key::none, Key::f12};
  for (int i = 0; i < 12; ++i) {
    if (code == static_cast<wint_t>(KEY_F(i + 1))) return kFunctions[static_cast<std::size_t>(i)];
  }
  return Key::none;
}

Input input_of_character(wint_t c) {
  switch (c) {
    case L'\n':
    case L'\r':
      return {Key::enter};
    case 0x7F:
    case 0x08:
      return {Key::backspace};
    case L'\t':
      return {Key::tab};
    case 0x0C:
      return {Key::redraw};
    case 0x03:
      return {Key::quit};
    default:
      break;
  }
  return c < 0x20 ? Input{} : Input{Key::character, static_cast<char32_t>(c)};
}

class CursesScreen : public TerminalScreen {
 public:
  // Frames go to newscr, what ncurses is to show next: stdscr would be a third copy of the screen. Keys are read of a
  // pad, since reading of a window shows that window.
  CursesScreen(SCREEN* screen, bool colour) : screen_(screen), keys_(newpad(1, 1)) {
    cbreak();
    noecho();
    nonl();
    keypad(keys_, TRUE);
    nodelay(keys_, TRUE);
    set_escdelay(25);
    define_further_keys();
    curs_set(0);
    leaveok(newscr, TRUE);
    wresize(stdscr, 1, 1);
    mouseinterval(0);
    mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, nullptr);
    make_looks(colour);
  }
  ~CursesScreen() override {
    if (!isendwin()) endwin();
    delscreen(screen_);
  }

  Size size() const override { return {COLS, LINES}; }
  void draw(const Frame& frame) override;
  std::optional<Input> next_input() override;
  void resize() override {
    winsize window{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_row > 0 && window.ws_col > 0) {
      resizeterm(window.ws_row, window.ws_col);
    }
    forget();
  }
  void forget() override {
    shown_.reset(1, 1);
    is_known_ = false;
  }
  void suspend() override { endwin(); }
  void resume() override {
    reset_prog_mode();
    forget();
  }

 private:
  void make_looks(bool colour);
  void make_cell(const Cell& cell, cchar_t& to);
  void draw_row(const Frame& frame, int y);
  std::optional<Input> mouse_input();
  void swallow_sequence();

  SCREEN* screen_;
  WINDOW* keys_;
  std::array<Looks, kStyles> looks_;
  Frame shown_{1, 1};
  bool is_known_ = false;
  std::vector<cchar_t> run_;
  Input last_click_;
  std::chrono::steady_clock::time_point last_click_time_;
};

void CursesScreen::make_looks(bool colour) {
  const bool has_colours = colour && has_colors() && start_color() == OK;
  if (has_colours) use_default_colors();
  for (std::size_t i = 0; i < kStyles; ++i) {
    const auto style = static_cast<Style>(i);
    if (!has_colours) {
      looks_[i] = {weight_without_colour(style), 0};
      continue;
    }
    const Paint paint = paint_of(style);
    looks_[i].attributes = paint.weight;
    if (paint.foreground == kDefault && paint.background == kDefault) continue;
    const auto pair = static_cast<short>(i + 1);
    if (init_pair(pair, paint.foreground, paint.background) == OK) looks_[i].pair = pair;
  }
}

void CursesScreen::make_cell(const Cell& cell, cchar_t& to) {
  wchar_t text[CCHARW_MAX + 1] = {};
  std::size_t used = 0;
  const std::string_view bytes = cell.view();
  for (std::size_t i = 0; i < bytes.size() && used < CCHARW_MAX;) {
    const CodePoint point = decode(bytes, i);
    text[used++] = static_cast<wchar_t>(point.value);
    i += point.bytes;
  }
  // Where the C library thinks otherwise of its width, the rest of the line would be drawn in the wrong place.
  if (text[0] >= 0x80 && wcwidth(text[0]) != cell.width) {
    text[0] = cell.width == 2 ? 0xFF1F : L'?';
    text[1] = 0;
  }
  const Looks& look = looks_[static_cast<std::size_t>(cell.style)];
  setcchar(&to, text, look.attributes, look.pair, nullptr);
}

void CursesScreen::draw_row(const Frame& frame, int y) {
  const Cell* now = frame.row(y);
  const int columns = frame.columns();
  int first = 0, last = columns - 1;
  if (is_known_) {
    const Cell* before = shown_.row(y);
    if (std::memcmp(now, before, sizeof(Cell) * static_cast<std::size_t>(columns)) == 0) return;
    while (now[first] == before[first]) ++first;
    while (now[last] == before[last]) --last;
    while (first > 0 && (now[first].width == 0 || before[first].width == 0)) --first;
    while (last + 1 < columns && (now[last + 1].width == 0 || before[last + 1].width == 0)) ++last;
  }
  run_.clear();
  for (int x = first; x <= last; ++x) {
    if (now[x].width == 0) continue;
    run_.emplace_back();
    make_cell(now[x], run_.back());
  }
  mvwadd_wchnstr(newscr, y, first, run_.data(), static_cast<int>(run_.size()));
  shown_.copy_row(frame, y);
}

void CursesScreen::draw(const Frame& frame) {
  if (!is_known_ || shown_.columns() != frame.columns() || shown_.rows() != frame.rows()) {
    is_known_ = false;
    shown_.reset(frame.columns(), frame.rows());
    werase(newscr);
    clearok(newscr, TRUE);
  }
  for (int y = 0; y < std::min(frame.rows(), LINES); ++y) draw_row(frame, y);
  doupdate();
  is_known_ = true;
}

// Keys that are not known begin as Escape does and must not act as it.
void CursesScreen::swallow_sequence() {
  wint_t c = 0;
  if (wget_wch(keys_, &c) == ERR) return;
  const bool has_more = c == L'[' || c == L'O';
  for (int i = 0; has_more && i < 32 && wget_wch(keys_, &c) != ERR && (c < 0x40 || c > 0x7E); ++i) {
  }
}

std::optional<Input> CursesScreen::mouse_input() {
  MEVENT event;
  if (getmouse(&event) != OK) return Input{};
  Input input{Key::none, 0, event.x, event.y};
  if ((event.bstate & BUTTON4_PRESSED) != 0) {
    input.key = Key::wheel_up;
  } else if ((event.bstate & BUTTON5_PRESSED) != 0) {
    input.key = Key::wheel_down;
  } else if ((event.bstate & BUTTON1_PRESSED) != 0) {
    constexpr std::chrono::milliseconds kDouble{400};
    const auto now = std::chrono::steady_clock::now();
    const bool is_double =
        last_click_.key == Key::click && last_click_.y == event.y && now - last_click_time_ < kDouble;
    input.key = is_double ? Key::double_click : Key::click;
    last_click_ = input;
    last_click_time_ = now;
  }
  return input;
}

std::optional<Input> CursesScreen::next_input() {
  wint_t c = 0;
  const int kind = wget_wch(keys_, &c);
  if (kind == ERR) return std::nullopt;
  if (kind == KEY_CODE_YES) {
    if (c == KEY_MOUSE) return mouse_input();
    return Input{key_of_code(c)};
  }
  if (c != 0x1B) return input_of_character(c);
  wint_t next = 0;
  const int next_kind = wget_wch(keys_, &next);
  if (next_kind == ERR) return Input{Key::escape};
  if (next_kind == OK) unget_wch(static_cast<wchar_t>(next));
  if (next_kind == OK) swallow_sequence();
  return Input{};
}

}  // namespace

Result<std::unique_ptr<TerminalScreen>> TerminalScreen::open(bool colour) {
  // Frames are UTF-8; where the locale is not, its characters must pass all the same.
  setlocale(LC_CTYPE, "");
  if (MB_CUR_MAX == 1) setlocale(LC_CTYPE, "C.UTF-8");
  SCREEN* screen = newterm(nullptr, stdout, stdin);
  if (screen == nullptr) {
    const char* name = std::getenv("TERM");
    return Error{ExitCode::machine,
                 fmt::format(fmt::runtime(tr("The terminal \"{name}\" is not known here; set TERM=xterm-256color or "
                                             "another kind that is, or print one screen with --once.")),
                             fmt::arg("name", printable(name != nullptr ? name : "")))};
  }
  return std::unique_ptr<TerminalScreen>(std::make_unique<CursesScreen>(screen, colour));
}

}  // namespace vramscope::tui
