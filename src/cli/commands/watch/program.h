#pragma once
// A program that the watch starts, and what is said of its end.
#include "cli/commands/watch/session.h"

namespace vramscope {

// Until the program ends; its exit code. RelayedChild::block_signals() was called before any thread was started.
ExitCode watch_program(const WatchOptions& options, WatchSession& session);

}  // namespace vramscope
