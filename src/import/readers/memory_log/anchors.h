#pragma once
// Finds, in text of any size, the places where something worth reading may stand. Thread-safe: only constants.
#include <cstddef>
#include <string_view>

namespace vramscope::memory_log {

// The first place at or behind `from` where one of a few words ("memory", "alloc", "killed", …) begins, in capitals or
// not; npos when there is none. Looks at about every fourth byte of ordinary text.
std::size_t find_anchor(std::string_view text, std::size_t from);

}  // namespace vramscope::memory_log
