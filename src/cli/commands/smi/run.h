#pragma once
// `vramscope smi`, and vramscope called as nvidia-smi.
#include <string>
#include <vector>

namespace vramscope {

// `arguments`: what follows. The exit code, which is nvidia-smi's.
int run_smi(const std::vector<std::string>& arguments);

}  // namespace vramscope
