#pragma once
#include <string>
#include <vector>

namespace vramscope {

// Parses the command line and runs its verb. The process's exit code.
int run(int argc, char** argv);

// The program that `watch` is to start, with its arguments: words that no parser of ours looks at.
const std::vector<std::string>& program_words();

}  // namespace vramscope
