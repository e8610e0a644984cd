#pragma once

namespace vramscope {

// Parses the command line and runs its verb. The process's exit code.
int run(int argc, char** argv);

}  // namespace vramscope
