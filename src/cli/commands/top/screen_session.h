#pragma once
// `top` on a terminal: keys, signals and samples, until the user quits.
#include "cli/commands/top/options.h"

namespace vramscope {

// `message`: what is to be said at first, of the setup file for one.
ExitCode run_screen(const TopOptions& options, const tui::Setup& setup, const std::string& setup_path,
                    std::string message);

}  // namespace vramscope
