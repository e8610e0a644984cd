#include "import/readers/cuda_snapshot/literals.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

namespace vramscope::pickle {

namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Takes `count` hexadecimal digits from the front.
bool take_hex(std::string_view& text, std::size_t count, std::uint32_t& code) {
  if (text.size() < count) return false;
  code = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const int digit = digit_of(text[i]);
    if (digit < 0) return false;
    code = code << 4 | static_cast<std::uint32_t>(digit);
  }
  text.remove_prefix(count);
  return true;
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto tail = [&](unsigned shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | (code >> 18 & 7));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace

Number long_from_bytes(std::string_view bytes) {
  Number number;
  if (bytes.empty()) return number;
  number.is_negative = (static_cast<unsigned char>(bytes.back()) & 0x80) != 0;
  const unsigned char fill = number.is_negative ? 0xff : 0;
  unsigned char low[8];
  std::memset(low, fill, sizeof(low));
  std::memcpy(low, bytes.data(), std::min(bytes.size(), sizeof(low)));
  std::uint64_t value = 0;
  std::memcpy(&value, low, sizeof(value));
  for (std::size_t i = sizeof(low); i < bytes.size(); ++i) {
    number.is_clamped = number.is_clamped || static_cast<unsigned char>(bytes[i]) != fill;
  }
  number.magnitude = number.is_negative ? ~value + 1 : value;
  if (number.is_negative && value == 0) number.is_clamped = true;  // -2^64
  return number;
}

Number real_from_bytes(std::uint64_t bytes) {
  Number number;
  number.is_real = true;
  const std::uint64_t swapped = __builtin_bswap64(bytes);
  std::memcpy(&number.real, &swapped, sizeof(number.real));
  return number;
}

bool parse_whole(std::string_view line, Number& number) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (!line.empty() && line.back() == 'L') line.remove_suffix(1);
  number.is_negative = !line.empty() && line.front() == '-';
  if (number.is_negative) line.remove_prefix(1);
  if (line.empty()) return false;
  for (const char c : line) {
    if (c < '0' || c > '9') return false;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (__builtin_mul_overflow(number.magnitude, std::uint64_t{10}, &number.magnitude) ||
        __builtin_add_overflow(number.magnitude, digit, &number.magnitude)) {
      number.is_clamped = true;
    }
  }
  return true;
}

bool parse_real(std::string_view line, Number& number) {
  number.is_real = true;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number.real);
  if (error == std::errc::invalid_argument) return false;
  if (error == std::errc::result_out_of_range) number.real = std::numeric_limits<double>::infinity();
  return end == line.data() + line.size();
}

bool parse_index(std::string_view line, std::uint64_t& index) {
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), index);
  return error == std::errc() && end == line.data() + line.size();
}

bool unquote(std::string_view line, std::string& text) {
  if (line.size() < 2 || line.front() != line.back() || (line.front() != '\'' && line.front() != '"')) return false;
  line = line.substr(1, line.size() - 2);
  while (!line.empty()) {
    const char c = line.front();
    line.remove_prefix(1);
    if (c != '\\') {
      text += c;
      continue;
    }
    if (line.empty()) return false;
    const char escape = line.front();
    line.remove_prefix(1);
    constexpr std::string_view kNames = "abfnrtv\\'\"";
    constexpr std::string_view kMeant = "\a\b\f\n\r\t\v\\'\"";
    std::uint32_t code = 0;
    if (escape == 'x') {
      if (!take_hex(line, 2, code)) return false;
      text += static_cast<char>(code);
    } else if (const std::size_t at = kNames.find(escape); at != std::string_view::npos) {
      text += kMeant[at];
    } else {
      text += {'\\', escape};
    }
  }
  return true;
}

bool unescape_unicode(std::string_view line, std::string& text) {
  while (!line.empty()) {
    const char c = line.front();
    line.remove_prefix(1);
    std::uint32_t code = static_cast<unsigned char>(c);
    if (c == '\\' && !line.empty() && (line.front() == 'u' || line.front() == 'U')) {
      const std::size_t digits = line.front() == 'u' ? 4 : 8;
      line.remove_prefix(1);
      if (!take_hex(line, digits, code) || code > 0x10ffff) return false;
    }
    append_utf8(text, code);
  }
  return true;
}

Value number_value(Store& store, const Number& number) {
  constexpr auto kMost = static_cast<std::uint64_t>(Value::kMost);
  if (number.is_real || number.is_clamped || number.magnitude > kMost) return store.number(number);
  const auto whole = static_cast<std::int64_t>(number.magnitude);
  return Value::integer(number.is_negative ? -whole : whole);
}

}  // namespace vramscope::pickle
