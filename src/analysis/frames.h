#pragma once
// Frames of Python stacks, as profilers write them: "path(line): function", "<built-in method …>", "nn.Module: Name_0".
#include <string_view>
#include <vector>

#include "model/trace.h"

namespace vramscope {

// Whether the frame is in the user's own code: not in an installed package, PyTorch and its family, the standard
// library, generated code, a built-in function or a module's own mark. Profilers cut known prefixes off ("torch/nn/…",
// "threading.py(…)"), so names at the start of a path count too.
bool is_user_frame(std::string_view frame);

// The innermost of the user's own frames, given a stack from the inside out (Trace::stack_of); 0 when there is none.
StringId first_user_frame(const StringPool& strings, const std::vector<StringId>& frames);

}  // namespace vramscope
