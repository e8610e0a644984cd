#include "import/foreign.h"

#include "text/catalogue.h"

namespace vramscope {

const char* recognise_foreign(std::string_view head) {
  const auto starts = [&](std::string_view magic) { return head.substr(0, magic.size()) == magic; };
  if (starts("version https://git-lfs")) {
    return N_("{path} is a Git LFS pointer, not the file itself; run `git lfs pull` and try again.");
  }
  if (starts("SQLite format 3")) {
    return N_(
        "{path} is an SQLite database, perhaps an Nsight Systems export, which this version cannot read; give it "
        "a PyTorch Profiler trace.");
  }
  // Every .nsys-rep and .qdrep carries this product name near its start, among bytes that no text has.
  const std::string_view first = head.substr(0, 4096);
  const bool is_binary = first.find('\0') != std::string_view::npos;
  if (is_binary &&
      (first.find("NVIDIA Nsight") != std::string_view::npos || first.find("QuadDReport") != std::string_view::npos)) {
    return N_(
        "{path} is a closed Nsight Systems report; run `nsys export --type sqlite {path}` and give vramscope the "
        "database once this version reads it, or a PyTorch Profiler trace.");
  }
  if (starts("PK\x03\x04")) return N_("{path} is a zip archive; unpack it and give vramscope the files inside.");
  return nullptr;
}

namespace {

struct WideEncoding {
  const char* name;
  std::size_t unit;     // bytes of a character
  std::size_t highest;  // which of them is the most significant one
  std::string_view mark;
};

// Those of four bytes first: the mark of UTF-32LE begins with that of UTF-16LE.
constexpr WideEncoding kWide[] = {
    {"UTF-32LE", 4, 3, {"\xff\xfe\0\0", 4}},
    {"UTF-32BE", 4, 0, {"\0\0\xfe\xff", 4}},
    {"UTF-16LE", 2, 1, {"\xff\xfe", 2}},
    {"UTF-16BE", 2, 0, {"\xfe\xff", 2}},
};

// The first characters of JSON are of ASCII: "{" or "[" behind blanks.
bool begins_like_json(std::string_view text, const WideEncoding& encoding) {
  for (; text.size() >= encoding.unit; text.remove_prefix(encoding.unit)) {
    const std::size_t lowest = encoding.unit - 1 - encoding.highest;
    for (std::size_t i = 0; i < encoding.unit; ++i) {
      if (i != lowest && text[i] != '\0') return false;
    }
    const char character = text[lowest];
    if (character == '{' || character == '[') return true;
    if (character != ' ' && character != '\t' && character != '\r' && character != '\n') return false;
  }
  return false;
}

}  // namespace

const char* wide_encoding(std::string_view head) {
  for (const WideEncoding& encoding : kWide) {
    std::string_view text = head;
    if (text.substr(0, encoding.mark.size()) == encoding.mark) text.remove_prefix(encoding.mark.size());
    if (begins_like_json(text, encoding)) return encoding.name;
  }
  return nullptr;
}

}  // namespace vramscope
