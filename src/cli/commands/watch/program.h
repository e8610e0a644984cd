#pragma once
// A program that the watch starts, and what is said of its end.
#include "cli/commands/watch/session.h"
#include "system/files.h"

namespace vramscope {

// Until the program ends; its exit code. `signals`: a signalfd of the signals that end programs.
ExitCode watch_program(const WatchOptions& options, WatchSession& session, const Descriptor& signals);

}  // namespace vramscope
