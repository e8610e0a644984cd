#pragma once
// What every verb that reads files shares: its FILE arguments, loading with progress, output, errors.
#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "base/result.h"
#include "model/source.h"

namespace vramscope {

// Bound to the parser by add_input_options; must outlive parsing.
struct InputOptions {
  std::vector<std::string> files;
  bool json_flag = false;
  std::string format;  // "text", "json", or empty

  bool json() const { return json_flag || format == "json"; }
  // Several files give a list in JSON, however many of them could be read.
  bool is_list() const { return files.size() > 1; }
};

// FILE… (at least one, unless the verb can do without), --json, --format text|json.
enum class Files { required, optional };
void add_input_options(CLI::App& app, InputOptions& options, Files files = Files::required);

// What could be read of the files.
struct Loaded {
  Case input;
  ExitCode code = ExitCode::ok;  // bad_input when a file was refused: the verb ends with it

  // How a verb ends that would end with `own`.
  ExitCode end(ExitCode own) const { return code == ExitCode::ok ? own : code; }
};

// Loads every file in turn; progress on stderr when that is a terminal. Of several files those that cannot be read are
// named on stderr and left out; an Error when none could be read, and for options that contradict each other.
Result<Loaded> load_case(const InputOptions& options);

// Prints the sentence on stderr, behind "vramscope: ", and returns the error's exit code.
ExitCode fail(const Error& error);
// Writes to stdout; a reader that closed the pipe early is not an error. Another failure is told on stderr, and then
// could_print() is false: the program must not end as if its output were whole.
void print(const std::string& text);
bool could_print();

// Trouble that means a part of the file is missing, unlike oddities that are read in full.
bool is_damage(std::string_view name);
// A line for each source that is damaged: what, how often, where first. Empty when all is whole. Every text
// report begins with it.
std::string trouble_header(const Case& input);

}  // namespace vramscope
