#include "tui/keys_filter.h"

namespace vramscope::tui {

namespace {

constexpr std::size_t kMostFilter = 200;  // bytes

void append_utf8(std::string& text, char32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
    return;
  }
  const auto more = [&](int shift) { text += static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x800) {
    text += static_cast<char>(0xC0 | (c >> 6));
  } else if (c < 0x10000) {
    text += static_cast<char>(0xE0 | (c >> 12));
    more(6);
  } else {
    text += static_cast<char>(0xF0 | ((c >> 18) & 0x07));
    more(12);
    more(6);
  }
  more(0);
}

}  // namespace

Action in_filter(UiState& state, const Input& input) {
  switch (input.key) {
    case Key::enter:
    case Key::f4:
      state.mode = Mode::main;
      break;
    case Key::escape:
    case Key::quit:
      state.filter = state.filter_before;
      state.mode = Mode::main;
      break;
    case Key::backspace:
      while (!state.filter.empty() && (static_cast<unsigned char>(state.filter.back()) & 0xC0) == 0x80) {
        state.filter.pop_back();
      }
      if (!state.filter.empty()) state.filter.pop_back();
      break;
    case Key::redraw:
      return Action::redraw;
    case Key::character:
      if (input.character >= U' ' && input.character != 0x7F && state.filter.size() < kMostFilter) {
        append_utf8(state.filter, input.character);
      }
      break;
    default:
      break;
  }
  return Action::none;
}

}  // namespace vramscope::tui
