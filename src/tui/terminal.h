#pragma once
// The terminal: frames out, keys in. The only place that knows ncurses.
#include <memory>
#include <optional>

#include "base/result.h"
#include "tui/frame.h"
#include "tui/ui_state.h"

namespace vramscope::tui {

// Takes the terminal of stdin and stdout; gives it back as it was when it ends. For one thread; one at a time.
class TerminalScreen {
 public:
  struct Size {
    int columns = 80;
    int rows = 24;
  };

  // `colour`: false shows weights and inversion alone. An Error when TERM is not known here.
  static Result<std::unique_ptr<TerminalScreen>> open(bool colour);
  virtual ~TerminalScreen() = default;

  virtual Size size() const = 0;
  // Shows what differs from the frame before.
  virtual void draw(const Frame& frame) = 0;
  // The next key or click; empty when there is none. Never waits, but for the rest of an escape sequence (25 ms).
  virtual std::optional<Input> next_input() = 0;
  // After the window got another size.
  virtual void resize() = 0;
  // Everything is drawn anew with the next frame.
  virtual void forget() = 0;
  // Gives the terminal back until resume(): before the program is stopped.
  virtual void suspend() = 0;
  virtual void resume() = 0;
};

}  // namespace vramscope::tui
