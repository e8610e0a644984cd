#pragma once
// What is live at a moment, as text: one sentence, then a table or the stacks.
#include <string>

#include "report/memory.h"

namespace vramscope {

std::string live_text(const Source& source, const SourceMemory& facts, const DeviceMemory& memory,
                      const MemoryOptions& options);

// "1.234 s", since the recording began.
std::string time_since_start(const Source& source, std::int64_t time_ns);

}  // namespace vramscope
