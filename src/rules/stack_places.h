#pragma once
// Where in the program an allocation was made, as evidence names it.
#include "model/finding.h"
#include "model/source.h"

namespace vramscope {

// The innermost frame of the user's own code, else the innermost readable one.
Message where_stack(const Source& source, StackId stack);

}  // namespace vramscope
