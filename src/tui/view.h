#pragma once
// A whole screen.
#include "tui/panels.h"

namespace vramscope::tui {

struct ViewOptions {
  std::int64_t interval_ns = 0;
  bool is_simulated = false;
  bool ascii = false;
  bool colour = false;
};

// Draws the scene as the user set it up into the frame, in the frame's size. `ui` is settled on the way: its cursor
// follows the selected process. `view`: what keys and the mouse can reach in that frame.
// `silent_ns`: the devices have not answered for so long; empty: they do.
void draw(Frame& frame, const Scene& scene, UiState& ui, std::optional<std::int64_t> silent_ns,
          const ViewOptions& options, View& view);

}  // namespace vramscope::tui
