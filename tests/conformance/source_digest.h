#pragma once
// What a reader made of a file, as one number: equal for equal events, times, names, memory and trouble, however
// the bytes were handed out. Ids of strings and tracks may differ; their texts may not.
#include <cstdint>
#include <string>

#include "model/source.h"

namespace vramscope::test {

std::uint64_t digest(const Source& source);
// The first thing that does not hold for every Source: sorted times, ids in range, sums that agree; empty when all is
// well.
std::string broken_promise(const Source& source);

}  // namespace vramscope::test
