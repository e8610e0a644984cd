#pragma once
// Names of the PyTorch Profiler's (Kineto's) Chrome trace, as its exporters of torch 1.8 to 2.9 write them.
// Source: the files themselves; pytorch/kineto libkineto/src/output_json.cpp and include/ActivityType.h for the
// list of categories.
#include <string_view>

#include "model/trace.h"

namespace vramscope::kineto {

// What a category is; SpanKind::other for one that is not in the list.
SpanKind kind_of(std::string_view category);
// Flow categories that join a forward operator with its backward one.
bool is_forward_backward(std::string_view category);

inline constexpr std::string_view kMemoryEvent = "[memory]";

}  // namespace vramscope::kineto
