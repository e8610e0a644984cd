#pragma once
// Pieces of the messages: numbers, sizes, what stands behind a phrase. Pure; any text is safe.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vramscope::memory_log {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::string_view trim(std::string_view text);
bool contains(std::string_view text, std::string_view words);
// Where `words` begin at or behind `from`, capitals or not; npos.
std::size_t find_folded(std::string_view text, std::string_view words, std::size_t from = 0);

// A whole number at the front, blanks before it and commas between thousands allowed; moves `text` behind it.
// Nothing, and `text` stays, when there is none, it has a fraction or does not fit.
std::optional<std::int64_t> take_integer(std::string_view& text);
// A size at the front: "1.50 GiB", "880.28MiB", "10.76G", "1,234 bytes", "0 bytes", "798816kB". Every unit counts by
// 1024, as the programs that write "GB" or "G" here mean it; the fraction is rounded to a byte. Moves `text` behind it.
// Nothing when it has no unit, is negative or does not fit.
std::optional<std::int64_t> take_size(std::string_view& text);

// The first size, or number, that stands right behind `phrase`.
std::optional<std::int64_t> size_behind(std::string_view text, std::string_view phrase);
std::optional<std::int64_t> integer_behind(std::string_view text, std::string_view phrase);
// The size right before the first `phrase`: "2.30 GiB" of "and 2.30 GiB is reserved", phrase " is reserved".
std::optional<std::int64_t> size_before(std::string_view text, std::string_view phrase);

// The device in "GPU 0", "GPU:0", "cuda:0", "CUDA0", "ROCm0", "device 0", "device ordinal 0", "device ID 0"; the first.
std::optional<std::int32_t> device_in(std::string_view text);

// Without escape sequences of terminals (colours, links), with every run of blanks, line ends and written-out line
// ends ("\n" as two characters) as one space.
std::string plain(std::string_view text);
// Without escape sequences alone.
std::string without_escapes(std::string_view text);

}  // namespace vramscope::memory_log
