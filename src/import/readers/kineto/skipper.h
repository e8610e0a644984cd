#pragma once
// Goes through one object or list of any size in pieces: nothing of it is kept but how deep it is and whether the last
// piece ended inside a string.
#include <cstdint>

#include "import/readers/kineto/scan.h"

namespace vramscope::kineto {

class Skipper {
 public:
  bool is_active() const { return is_active_; }
  // The next piece begins on the value's opening bracket or brace.
  void begin() {
    *this = Skipper();
    is_active_ = true;
  }
  // Takes [at, end), with the padding that scan.h asks for. Returns the place behind the value, and is no longer
  // active; or nullptr when the piece ends before that.
  const char* feed(const char* at, const char* end) {
    if (has_open_escape_ && at < end) {
      ++at;
      has_open_escape_ = false;
    }
    while (at < end) {
      at = in_string_ ? leave_string(at, end) : find_structure(at, end);
      if (at >= end) break;
      if (in_string_) {
        in_string_ = false;
      } else if (*at == '"') {
        in_string_ = true;
      } else if (*at == '[' || *at == '{') {
        ++depth_;
      } else if (--depth_ <= 0) {
        is_active_ = false;
        return at + 1;
      }
      ++at;
    }
    return nullptr;
  }

 private:
  // The string's closing quote, or `end`.
  const char* leave_string(const char* at, const char* end) {
    for (at = find_quote_or_escape(at, end); at < end && *at == '\\'; at = find_quote_or_escape(at + 2, end)) {
      if (end - at >= 2) continue;
      has_open_escape_ = true;
      return end;
    }
    return at;
  }

  std::int64_t depth_ = 0;
  bool is_active_ = false;
  bool in_string_ = false;
  bool has_open_escape_ = false;
};

}  // namespace vramscope::kineto
