#pragma once
// The setup of `top` in a file, TOML: $XDG_CONFIG_HOME/vramscope/top.toml, else ~/.config/vramscope/top.toml.
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tui/setup.h"

namespace vramscope {

// Empty when neither HOME nor XDG_CONFIG_HOME is set.
std::string usual_setup_path();

struct SetupReading {
  tui::Setup setup;                   // what could be understood; the usual one for the rest
  std::vector<std::string> problems;  // sentences with the place; nothing in the file is fatal
};

// A file that does not exist is an empty one.
SetupReading read_setup(const std::string& path);
SetupReading parse_setup(std::string_view text, const std::string& path);
// Keys of the file that are not ours stay. An Error when it cannot be written, or when what is there is no TOML and
// would be lost.
std::optional<Error> save_setup(const std::string& path, const tui::Setup& setup);

}  // namespace vramscope
