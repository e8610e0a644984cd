#pragma once
// Numbers of a trace. Times are read from their decimal text: microseconds since 1970 do not fit a double.
#include <cstdint>
#include <optional>
#include <string_view>

namespace vramscope::kineto {

// Microseconds as decimal text to nanoseconds, half away from zero below that. Empty for what is no finite
// number, or one beyond +-2^62 ns. An exponent is understood.
std::optional<std::int64_t> nanoseconds_from_microseconds(std::string_view text);

// An integer; a fraction is cut off, an exponent understood. Unsigned values up to 2^64 - 1 come back as the
// int64 of the same bits when `wrap` is set. Empty for anything else.
std::optional<std::int64_t> integer(std::string_view text, bool wrap = false);
// An integer without a fraction that is not 0, in range. Empty for anything else.
std::optional<std::int64_t> whole_number(std::string_view text);

// Whether the text is a finite decimal number, however large.
bool is_number(std::string_view text);

}  // namespace vramscope::kineto
