#include "import/readers/kineto/event_parser.h"

namespace vramscope::kineto {

namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The four hex digits at `at`, or -1.
std::int32_t hex4(std::string_view raw, std::size_t at) {
  if (at + 4 > raw.size()) return -1;
  std::int32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const int digit = hex_value(raw[at + i]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

void append_utf8(std::uint32_t code, std::string& out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

// `at` is behind "\u". Moves it behind what was read; false when it is no code.
bool append_unicode_escape(std::string_view raw, std::size_t& at, std::string& out) {
  const std::int32_t first = hex4(raw, at);
  if (first < 0) return false;
  at += 4;
  auto code = static_cast<std::uint32_t>(first);
  if (code >= 0xd800 && code < 0xdc00 && at + 6 <= raw.size() && raw[at] == '\\' && raw[at + 1] == 'u') {
    const std::int32_t second = hex4(raw, at + 2);
    if (second >= 0xdc00 && second < 0xe000) {
      code = 0x10000 + ((code - 0xd800) << 10) + (static_cast<std::uint32_t>(second) - 0xdc00);
      at += 6;
    }
  }
  if (code >= 0xd800 && code < 0xe000) code = 0xfffd;  // half a pair is no character
  append_utf8(code, out);
  return true;
}

}  // namespace

bool unescape(std::string_view raw, std::string& out) {
  out.clear();
  bool is_json = true;
  for (std::size_t i = 0; i < raw.size();) {
    if (raw[i] != '\\' || i + 1 >= raw.size()) {
      out += raw[i++];
      continue;
    }
    const char escaped = raw[i + 1];
    i += 2;
    switch (escaped) {
      case '"':
      case '\\':
      case '/':
        out += escaped;
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'u':
        if (append_unicode_escape(raw, i, out)) break;
        [[fallthrough]];
      default:
        out += '\\';
        out += escaped;
        is_json = false;
    }
  }
  return is_json;
}

std::size_t find_event_start(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find('{', from); at != std::string_view::npos; at = text.find('{', at + 1)) {
    std::size_t before = at;
    while (before > 0 && static_cast<unsigned char>(text[before - 1]) <= ' ') --before;
    if (before == 0 || (text[before - 1] != ',' && text[before - 1] != '[')) continue;
    std::size_t next = at + 1;
    while (next < text.size() && static_cast<unsigned char>(text[next]) <= ' ') ++next;
    if (next >= text.size() || text[next] != '"') continue;
    const std::string_view rest = text.substr(next, 12);
    for (const std::string_view key :
         {"\"ph\"", "\"name\"", "\"cat\"", "\"ts\"", "\"pid\"", "\"args\"", "\"tid\"", "\"id\""}) {
      if (rest.substr(0, key.size()) == key) return at;
    }
  }
  return std::string_view::npos;
}

std::size_t rfind_event_start(std::string_view text) {
  for (std::size_t at = text.rfind('{'); at != std::string_view::npos && at > 0; at = text.rfind('{', at - 1)) {
    std::size_t before = at;
    while (before > 0 && static_cast<unsigned char>(text[before - 1]) <= ' ') --before;
    if (before == 0 || text[before - 1] != ',') continue;
    --before;
    while (before > 0 && static_cast<unsigned char>(text[before - 1]) <= ' ') --before;
    if (before == 0 || text[before - 1] != '}') continue;
    std::size_t next = at + 1;
    while (next < text.size() && static_cast<unsigned char>(text[next]) <= ' ') ++next;
    if (next < text.size() && text[next] == '"') return at;
  }
  return std::string_view::npos;
}

}  // namespace vramscope::kineto
