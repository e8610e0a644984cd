#pragma once
// Points in time as people read them.
#include <cstdint>
#include <string>

namespace vramscope {

// "2024-05-01 12:34:56 UTC" of nanoseconds since 1970. Every value has a date.
std::string format_utc(std::int64_t epoch_ns);

}  // namespace vramscope
