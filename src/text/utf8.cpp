#include "text/utf8.h"

#include <vector>

#include "text/width.h"

namespace vramscope {
namespace {

constexpr std::string_view kReplacementBytes = "\xEF\xBF\xBD";

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// What a first byte promises; the second byte's bounds rule out overlong forms, surrogates and values above
// U+10FFFF. length 0: no first byte.
struct Lead {
  std::size_t length = 0;
  unsigned bits = 0;
  unsigned low = 0x80;
  unsigned high = 0xBF;
};

Lead lead_of(unsigned byte) {
  if (byte < 0x80) return {1, byte};
  if (byte >= 0xC2 && byte <= 0xDF) return {2, byte & 0x1FU};
  if (byte == 0xE0) return {3, 0, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0xD, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {3, byte & 0xFU};
  if (byte == 0xF0) return {4, 0, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {4, byte & 7U};
  if (byte == 0xF4) return {4, 4, 0x80, 0x8F};
  return {};
}

// Characters that move the cursor, reorder what follows or end the line.
bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

// "\x1b", "\u202e": what a terminal does not obey.
std::string escaped(char32_t c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const bool is_short = c < 0x100;
  std::string text = is_short ? "\\x" : "\\u";
  for (int shift = is_short ? 4 : 12; shift >= 0; shift -= 4) text += kDigits[(c >> shift) & 0xFU];
  return text;
}

void append_printable(std::string& out, std::string_view text, std::size_t at, const CodePoint& point) {
  if (point.value == '\t' || point.value == '\n' || point.value == '\r') {
    out += ' ';
  } else if (!point.valid) {
    out += kReplacementBytes;
  } else if (is_control(point.value)) {
    out += escaped(point.value);
  } else {
    out += text.substr(at, point.bytes);
  }
}

// A unit that is never cut: one code point, or one colour sequence (which is kept even where text is cut).
struct Glyph {
  std::string_view bytes;
  std::size_t width = 0;
  bool colour = false;
};

std::vector<Glyph> glyphs_of(std::string_view text) {
  std::vector<Glyph> glyphs;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t length = colour_sequence(text, at); length > 0) {
      glyphs.push_back({text.substr(at, length), 0, true});
      at += length;
      continue;
    }
    const CodePoint point = decode(text, at);
    glyphs.push_back({point.valid ? text.substr(at, point.bytes) : kReplacementBytes, code_point_width(point.value)});
    at += point.bytes;
  }
  return glyphs;
}

// The glyphs outside [cut_begin, cut_end), with the mark in place of those inside.
std::string join(const std::vector<Glyph>& glyphs, std::size_t cut_begin, std::size_t cut_end, std::string_view mark) {
  std::string out;
  for (std::size_t i = 0; i < glyphs.size(); ++i) {
    if (i == cut_begin) out += mark;
    if (i < cut_begin || i >= cut_end || glyphs[i].colour) out += glyphs[i].bytes;
  }
  return out;
}

std::string elide(std::string_view text, std::size_t columns, bool ascii, bool in_middle) {
  const std::vector<Glyph> glyphs = glyphs_of(text);
  std::size_t width = 0;
  for (const Glyph& glyph : glyphs) width += glyph.width;
  if (width <= columns) return valid_utf8(text);
  const std::string mark = ascii ? std::string(columns < 3 ? columns : 3, '.') : std::string(columns < 1 ? "" : "…");
  const std::size_t room = columns - (ascii ? mark.size() : (columns < 1 ? 0 : 1));
  const std::size_t tail_room = in_middle ? room / 2 : 0;
  std::size_t begin = 0;
  for (std::size_t used = 0; used + glyphs[begin].width <= room - tail_room;) used += glyphs[begin++].width;
  std::size_t end = glyphs.size();
  for (std::size_t used = 0; end > begin && used + glyphs[end - 1].width <= tail_room;) used += glyphs[--end].width;
  // A combining mark must not land on the mark of the cut.
  while (end < glyphs.size() && glyphs[end].width == 0) ++end;
  return join(glyphs, begin, end, mark);
}

}  // namespace

CodePoint decode(std::string_view text, std::size_t at) {
  const Lead lead = lead_of(byte_at(text, at));
  if (lead.length == 0) return {};
  char32_t value = lead.bits;
  for (std::size_t i = 1; i < lead.length; ++i) {
    const unsigned low = i == 1 ? lead.low : 0x80;
    const unsigned high = i == 1 ? lead.high : 0xBF;
    if (at + i >= text.size() || byte_at(text, at + i) < low || byte_at(text, at + i) > high) {
      return {kReplacement, i, false};
    }
    value = (value << 6U) | (byte_at(text, at + i) & 0x3FU);
  }
  return {value, lead.length, true};
}

std::size_t colour_sequence(std::string_view text, std::size_t at) {
  if (text.substr(at, 2) != "\033[") return 0;
  for (std::size_t i = at + 2; i < text.size(); ++i) {
    if (text[i] == 'm') return i + 1 - at;
    if (text[i] != ';' && (text[i] < '0' || text[i] > '9')) return 0;
  }
  return 0;
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode(text, at);
    out += point.valid ? text.substr(at, point.bytes) : kReplacementBytes;
    at += point.bytes;
  }
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode(text, at);
    append_printable(out, text, at, point);
    at += point.bytes;
  }
  return out;
}

std::string printable_painted(std::string_view text) {
  std::string out;
  std::string_view last_colour;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t length = colour_sequence(text, at); length > 0) {
      last_colour = text.substr(at, length);
      out += last_colour;
      at += length;
      continue;
    }
    const CodePoint point = decode(text, at);
    append_printable(out, text, at, point);
    at += point.bytes;
  }
  if (!last_colour.empty() && last_colour != "\033[0m" && last_colour != "\033[m") out += "\033[0m";
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= ' ' && byte < 0x7F) {
      ++width;
      ++at;
      continue;
    }
    if (const std::size_t length = colour_sequence(text, at); length > 0) {
      at += length;
      continue;
    }
    const CodePoint point = decode(text, at);
    width += code_point_width(point.value);
    at += point.bytes;
  }
  return width;
}

std::string elide_end(std::string_view text, std::size_t columns, bool ascii) {
  return elide(text, columns, ascii, false);
}

std::string elide_middle(std::string_view text, std::size_t columns, bool ascii) {
  return elide(text, columns, ascii, true);
}

}  // namespace vramscope
