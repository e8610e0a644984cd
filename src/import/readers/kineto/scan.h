#pragma once
// The inner loops of the JSON reader: finding the next byte that matters, 16 at a time.
// Every function takes [at, end); "not found" is `end`. At least 16 readable bytes that are no part of the text must
// follow `end` (TextBuffer has them).
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace vramscope::kineto {

// The first byte above ' '. Control characters count as space: nothing else can be done with them here.
inline const char* skip_space(const char* at, const char* end) {
  // Between members stands nothing or one blank, mostly. A blank at the end is followed by padding.
  if (static_cast<unsigned char>(*at) > ' ' && at < end) return at;
  if (at >= end) return end;
  ++at;
  if (static_cast<unsigned char>(*at) > ' ' && at < end) return at;
#if defined(__SSE2__)
  const __m128i blank = _mm_set1_epi8(' ');
  while (at < end) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    // min(byte, ' ') == byte for bytes <= ' ', unsigned.
    const int blanks = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(bytes, blank), bytes));
    if (blanks != 0xffff) {
      at += __builtin_ctz(static_cast<unsigned>(~blanks & 0xffff));
      return at < end ? at : end;
    }
    at += 16;
  }
  return end;
#else
  while (at < end && static_cast<unsigned char>(*at) <= ' ') ++at;
  return at;
#endif
}

// The next '"' or '\\'.
inline const char* find_quote_or_escape(const char* at, const char* end) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i escape = _mm_set1_epi8('\\');
  while (at < end) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const int hits = _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, escape)));
    if (hits != 0) {
      at += __builtin_ctz(static_cast<unsigned>(hits));
      return at < end ? at : end;
    }
    at += 16;
  }
  return end;
#else
  while (at < end && *at != '"' && *at != '\\') ++at;
  return at;
#endif
}

// The next one of " [ ] { }
inline const char* find_structure(const char* at, const char* end) {
#if defined(__SSE2__)
  // '[' and '{', ']' and '}' differ in bit 0x20 alone.
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i open = _mm_set1_epi8('{');
  const __m128i close = _mm_set1_epi8('}');
  const __m128i bit = _mm_set1_epi8(0x20);
  while (at < end) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i folded = _mm_or_si128(bytes, bit);
    const __m128i any = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote),
                                     _mm_or_si128(_mm_cmpeq_epi8(folded, open), _mm_cmpeq_epi8(folded, close)));
    const int hits = _mm_movemask_epi8(any);
    if (hits != 0) {
      at += __builtin_ctz(static_cast<unsigned>(hits));
      return at < end ? at : end;
    }
    at += 16;
  }
  return end;
#else
  while (at < end && *at != '"' && *at != '[' && *at != ']' && *at != '{' && *at != '}') ++at;
  return at;
#endif
}

// `at` is behind an opening quote. Returns the closing quote, or `end` when the text ends inside the string.
inline const char* string_end(const char* at, const char* end, bool& has_escape) {
  for (;;) {
    at = find_quote_or_escape(at, end);
    if (at >= end) return end;
    if (*at == '"') return at;
    has_escape = true;
    if (end - at < 2) return end;
    at += 2;
  }
}

// `at` is on an opening bracket or brace. Returns the place behind its partner, or nullptr when the text ends
// before. The kinds of bracket are not told apart: who closes what does not matter for skipping.
inline const char* skip_nested(const char* at, const char* end) {
  std::int64_t depth = 0;
  for (;;) {
    at = find_structure(at, end);
    if (at >= end) return nullptr;
    switch (*at) {
      case '"': {
        bool has_escape = false;
        at = string_end(at + 1, end, has_escape);
        if (at >= end) return nullptr;
        break;
      }
      case '[':
      case '{':
        ++depth;
        break;
      default:
        if (--depth == 0) return at + 1;
    }
    ++at;
  }
}

// Behind a bare word or number: the next , } ] : or space.
inline const char* scalar_end(const char* at, const char* end) {
  while (at < end && *at != ',' && *at != '}' && *at != ']' && *at != ':' && static_cast<unsigned char>(*at) > ' ')
    ++at;
  return at;
}

}  // namespace vramscope::kineto
