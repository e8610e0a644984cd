#pragma once
// A verb of the command line. One .cpp in commands/ that defines `command_<file name>()` adds one; its
// registration with CLI11 is its help, its man page entry and its completion at once.
#include <memory>
#include <vector>

#include "CLI/CLI.hpp"
#include "base/result.h"

namespace vramscope {

struct Command {
  const char* name;   // the verb
  const char* about;  // English msgid, one line
  int order;          // place in --help
  // Adds options to the verb's own parser. The returned function runs the verb after parsing.
  std::function<ExitCode()> (*declare)(CLI::App& app);
};

// Every verb, in the order of --help.
const std::vector<Command>& commands();

}  // namespace vramscope
