#pragma once
// Runs a short program for a channel: its own process group, text on its stdin, at most so long.
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "notify/channel.h"

namespace vramscope {

struct ProgramRun {
  std::vector<std::string> arguments;                            // [0] is looked up in PATH
  std::vector<std::pair<std::string, std::string>> environment;  // besides our own
  std::string input;
  bool wants_output = false;  // keep what it writes to stdout, at most 64 KiB
  std::chrono::milliseconds timeout{30'000};
};

struct ProgramEnd {
  enum class How { exited, signalled, timed_out, not_started, unknown } how = How::unknown;
  int code = 0;            // exit status, signal, or errno of not_started
  std::string output;      // its stdout
  std::string last_error;  // the last line of its stderr, safe to print
};

// Kills the whole group when the time or the deadline is over. What the program left running in the background by
// itself stays when it ended in time.
ProgramEnd run_program(const ProgramRun& run, const Deadline& deadline_ns);
// Nothing when it ended with 0.
std::optional<DeliveryProblem> program_problem(const ProgramEnd& end);
bool is_program_there(const std::string& name);  // in PATH

}  // namespace vramscope
