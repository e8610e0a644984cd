#pragma once
// Files that we know by sight but do not read.
#include <string_view>

namespace vramscope {

// The msgid of a sentence with a {path} place that says what the file is and what to do, or nullptr.
const char* recognise_foreign(std::string_view head);

}  // namespace vramscope
