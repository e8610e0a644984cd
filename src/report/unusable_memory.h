#pragma once
// Memory events that were in a file but told nothing.
#include <string>

#include "model/source.h"

namespace vramscope {

// "The file holds 3 memory events, but none …"; empty where there are no such events.
std::string unusable_memory_text(const Source& source);

}  // namespace vramscope
