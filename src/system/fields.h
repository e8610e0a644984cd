#pragma once
// Taking lines, words and numbers out of the kernel's text files. The text may be cut or hostile: what is no number,
// or does not fit, is no value.
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace vramscope {

// The whole of `text` as a decimal number.
inline std::optional<std::int64_t> parse_int64(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The number that `text` starts with; what follows it does not matter.
inline std::optional<std::int64_t> parse_leading_int64(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{}) return std::nullopt;
  return value;
}

// a * b, when it fits.
inline std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

// Takes what stands before the next `separator` off the front of `rest`; all of it when there is none.
inline std::string_view take_until(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return part;
}

// Takes the next word off the front of `rest`; words are apart by spaces, tabs and line ends. Empty at the end.
inline std::string_view take_word(std::string_view& rest) {
  constexpr std::string_view kSpace = " \t\n\r";
  const std::size_t begin = rest.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) {
    rest = {};
    return {};
  }
  rest.remove_prefix(begin);
  const std::size_t end = rest.find_first_of(kSpace);
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(word.size());
  return word;
}

// What follows `key` on the first line that starts with it; `key` includes its colon or space.
inline std::optional<std::string_view> find_line(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = take_until(text, '\n');
    if (line.starts_with(key)) return line.substr(key.size());
  }
  return std::nullopt;
}

// The number that follows `key` on the first line that starts with it.
inline std::optional<std::int64_t> find_number(std::string_view text, std::string_view key) {
  auto rest = find_line(text, key);
  return rest ? parse_int64(take_word(*rest)) : std::nullopt;
}

}  // namespace vramscope
