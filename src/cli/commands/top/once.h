#pragma once
// `top` without a screen: one frame as text, or nvtop's JSON.
#include "cli/commands/top/options.h"

namespace vramscope {

ExitCode print_frame(const TopOptions& options, const tui::Setup& setup);
// Once, or at every interval until a signal or the end of a recording.
ExitCode print_snapshots(const TopOptions& options);

}  // namespace vramscope
