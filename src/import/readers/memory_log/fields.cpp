#include "import/readers/memory_log/fields.h"

#include <algorithm>
#include <limits>

namespace vramscope::memory_log {

namespace {

constexpr std::uint64_t kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

constexpr char small(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

struct Whole {
  std::uint64_t value = 0;
  std::size_t length = 0;  // 0: no number
  bool fits = true;
};

Whole whole_at(std::string_view text) {
  Whole whole;
  std::size_t at = 0;
  while (at < text.size()) {
    const bool is_thousand = text[at] == ',' && at > 0 && text.size() >= at + 4 && is_digit(text[at + 1]) &&
                             is_digit(text[at + 2]) && is_digit(text[at + 3]) &&
                             (text.size() == at + 4 || !is_digit(text[at + 4]));
    if (is_thousand) {
      ++at;
      continue;
    }
    if (!is_digit(text[at])) break;
    const std::uint64_t digit = static_cast<std::uint64_t>(text[at] - '0');
    if (whole.value > (kMost - digit) / 10) whole.fits = false;
    if (whole.fits) whole.value = whole.value * 10 + digit;
    ++at;
  }
  whole.length = at;
  return whole;
}

std::size_t blanks_at(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size() && is_blank(text[count])) ++count;
  return count;
}

struct Unit {
  int shift = -1;  // -1: no unit
  std::size_t length = 0;
};

Unit unit_at(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && is_letter(text[length])) ++length;
  std::string word(text.substr(0, length));
  std::transform(word.begin(), word.end(), word.begin(), small);
  if (word == "b" || word == "byte" || word == "bytes") return {0, length};
  constexpr std::string_view kPrefixes = "kmgtpe";
  const std::size_t power = word.empty() ? std::string_view::npos : kPrefixes.find(word[0]);
  const std::string rest = word.empty() ? std::string() : word.substr(1);
  if (power == std::string_view::npos || (!rest.empty() && rest != "b" && rest != "ib" && rest != "i")) return {};
  return {static_cast<int>(power + 1) * 10, length};
}

}  // namespace

std::string_view trim(std::string_view text) {
  while (!text.empty() && (is_blank(text.front()) || text.front() == '\r')) text.remove_prefix(1);
  while (!text.empty() && (is_blank(text.back()) || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

bool contains(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

std::size_t find_folded(std::string_view text, std::string_view words, std::size_t from) {
  if (from > text.size()) return std::string_view::npos;
  const auto found = std::search(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), words.begin(),
                                 words.end(), [](char a, char b) { return small(a) == small(b); });
  return found == text.end() ? std::string_view::npos : static_cast<std::size_t>(found - text.begin());
}

std::optional<std::int64_t> take_integer(std::string_view& text) {
  const std::size_t blanks = blanks_at(text);
  const Whole whole = whole_at(text.substr(blanks));
  const std::string_view rest = text.substr(blanks + whole.length);
  if (whole.length == 0 || !whole.fits) return std::nullopt;
  if (rest.size() > 1 && rest[0] == '.' && is_digit(rest[1])) return std::nullopt;
  text = rest;
  return static_cast<std::int64_t>(whole.value);
}

std::optional<std::int64_t> take_size(std::string_view& text) {
  const std::size_t blanks = blanks_at(text);
  const Whole whole = whole_at(text.substr(blanks));
  if (whole.length == 0 || !whole.fits) return std::nullopt;
  std::string_view rest = text.substr(blanks + whole.length);
  std::uint64_t part = 0;
  std::uint64_t scale = 1;
  if (rest.size() > 1 && rest[0] == '.' && is_digit(rest[1])) {
    rest.remove_prefix(1);
    for (; !rest.empty() && is_digit(rest[0]); rest.remove_prefix(1)) {
      constexpr std::uint64_t kFinest = 1'000'000'000;
      if (scale == kFinest) continue;
      part = part * 10 + static_cast<std::uint64_t>(rest[0] - '0');
      scale *= 10;
    }
  }
  rest.remove_prefix(blanks_at(rest));
  const Unit unit = unit_at(rest);
  if (unit.shift < 0 || whole.value > (kMost >> unit.shift)) return std::nullopt;
  if (rest.size() > unit.length && is_digit(rest[unit.length])) return std::nullopt;  // "1e9" has no unit
  // Less than one unit of at most 2^60 bytes by a scale of at most 2^30: the product would need 90 bits.
  const long double fraction = static_cast<long double>(part) / static_cast<long double>(scale) *
                               static_cast<long double>(std::uint64_t{1} << unit.shift);
  const std::uint64_t bytes = (whole.value << unit.shift) + static_cast<std::uint64_t>(fraction + 0.5L);
  if (bytes > kMost) return std::nullopt;
  text = rest.substr(unit.length);
  return static_cast<std::int64_t>(bytes);
}

namespace {

template <typename Take>
std::optional<std::int64_t> behind(std::string_view text, std::string_view phrase, Take take) {
  for (std::size_t at = text.find(phrase); at != std::string_view::npos; at = text.find(phrase, at + 1)) {
    std::string_view rest = text.substr(at + phrase.size());
    if (const std::optional<std::int64_t> value = take(rest)) return value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> size_behind(std::string_view text, std::string_view phrase) {
  return behind(text, phrase, take_size);
}

std::optional<std::int64_t> integer_behind(std::string_view text, std::string_view phrase) {
  return behind(text, phrase, take_integer);
}

std::optional<std::int64_t> size_before(std::string_view text, std::string_view phrase) {
  const std::size_t end = text.find(phrase);
  if (end == std::string_view::npos) return std::nullopt;
  std::size_t begin = end;
  while (begin > 0 && is_letter(text[begin - 1])) --begin;
  while (begin > 0 && is_blank(text[begin - 1])) --begin;
  while (begin > 0 && (is_digit(text[begin - 1]) || text[begin - 1] == '.' || text[begin - 1] == ',')) --begin;
  // "-1 GiB", "1e999 GiB"
  if (begin > 0 && (text[begin - 1] == '-' || text[begin - 1] == '+' || is_letter(text[begin - 1]))) {
    return std::nullopt;
  }
  std::string_view size = text.substr(begin, end - begin);
  const std::optional<std::int64_t> bytes = take_size(size);
  return size.empty() ? bytes : std::nullopt;
}

std::optional<std::int32_t> device_in(std::string_view text) {
  constexpr std::string_view kWords[] = {
      "GPU ",       "GPU:",          "cuda:",   "CUDA",    "ROCm", "xpu:", "hip:", "device ordinal ",
      "device ID ", "device_id\": ", "device ", "device=", "GPU_", "GPU="};
  std::size_t first = std::string_view::npos;
  std::optional<std::int32_t> device;
  for (const std::string_view word : kWords) {
    for (std::size_t at = text.find(word); at != std::string_view::npos && at < first; at = text.find(word, at + 1)) {
      std::string_view rest = text.substr(at + word.size());
      if (rest.empty() || !is_digit(rest[0])) continue;
      constexpr std::int64_t kMostDevices = 4096;
      const std::optional<std::int64_t> number = take_integer(rest);
      if (!number || *number >= kMostDevices) continue;
      first = at;
      device = static_cast<std::int32_t>(*number);
      break;
    }
  }
  return device;
}

namespace {

// The length of the escape sequence at the front: CSI … letter, OSC … BEL or ST, or ESC and one more.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2) return 1;
  std::size_t at = 2;
  if (text[1] == '[') {
    while (at < text.size() && (text[at] < '@' || text[at] > '~') && text[at] >= ' ') ++at;
    return at < text.size() && text[at] >= '@' ? at + 1 : at;
  }
  if (text[1] == ']') {
    while (at < text.size() && text[at] != '\a' && text[at] != '\033' && text[at] != '\n') ++at;
    if (at < text.size() && text[at] == '\a') return at + 1;
    return at + 1 < text.size() && text[at] == '\033' && text[at + 1] == '\\' ? at + 2 : at;
  }
  return at;
}

}  // namespace

std::string without_escapes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t escape = std::min(text.find('\033'), text.size());
    out.append(text.substr(0, escape));
    text.remove_prefix(escape);
    if (!text.empty()) text.remove_prefix(escape_length(text));
  }
  return out;
}

std::string plain(std::string_view text) {
  const std::string clean = without_escapes(text);
  std::string out;
  out.reserve(clean.size());
  for (std::size_t i = 0; i < clean.size(); ++i) {
    // Behind the end of a sentence alone: in "C:\\new" it is none.
    const bool ends_sentence = i > 0 && contains(".);! ", std::string_view(clean).substr(i - 1, 1));
    const bool is_written_end =
        ends_sentence && clean[i] == '\\' && i + 1 < clean.size() && (clean[i + 1] == 'n' || clean[i + 1] == 'r');
    if (is_written_end) ++i;
    const bool is_space = is_written_end || is_blank(clean[i]) || clean[i] == '\n' || clean[i] == '\r';
    if (!is_space) {
      out += clean[i];
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  return out;
}

}  // namespace vramscope::memory_log
