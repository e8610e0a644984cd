#include "import/readers/memory_log/settings.h"

#include <algorithm>

#include "import/readers/memory_log/fields.h"

namespace vramscope::memory_log {

namespace {

constexpr std::string_view kEnd = "_ALLOC_CONF";
constexpr std::string_view kNames[] = {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF"};
constexpr std::size_t kLongestValue = 512;

void skip(std::string_view& text, std::string_view any) {
  while (!text.empty() && contains(any, text.substr(0, 1))) text.remove_prefix(1);
}

// "try setting …=… to avoid fragmentation", "# export …": nothing that was done. A hint may begin on the line before.
bool is_hint(std::string_view before, std::string_view behind) {
  constexpr std::size_t kNear = 40;
  const std::string_view near = before.substr(before.size() - std::min(before.size(), kNear));
  for (const std::string_view word :
       {"setting ", "try ", "consider", "recommend", "should set", "can set", "please set", "e.g.", "instead"}) {
    if (find_folded(near, word) != std::string_view::npos) return true;
  }
  return find_folded(behind.substr(0, kNear), "to avoid") != std::string_view::npos;
}

// One setting or several: "name:value,name:value"; empty where there is nothing, as of a variable that is emptied.
bool is_value(std::string_view value) {
  return value.empty() || (is_letter(value.front()) && contains(value, ":"));
}

std::string_view trimmed_end(std::string_view value) {
  while (!value.empty() && contains(".,;:", value.substr(value.size() - 1))) value.remove_suffix(1);
  return value;
}

}  // namespace

void Settings::feed(const Line& line) {
  if (!contains(line.text, kEnd)) return;
  const std::string text = plain(line.text);
  constexpr std::size_t kBefore = 80;
  const std::string tail = plain(line.before.substr(line.before.size() - std::min(line.before.size(), kBefore)));
  for (std::size_t at = text.find(kEnd); at != std::string::npos; at = text.find(kEnd, at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && (is_letter(text[begin - 1]) || text[begin - 1] == '_')) --begin;
    const std::string_view name = std::string_view(text).substr(begin, at - begin + kEnd.size());
    if (std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames)) continue;
    const std::string before = begin == 0 ? tail : text.substr(0, begin);
    if (trim(text).substr(0, 1) == "#" && begin > 0) continue;
    std::string_view rest = std::string_view(text).substr(at + kEnd.size());
    skip(rest, "\"'])");
    skip(rest, " ");
    if (rest.empty() || !contains("=:,", rest.substr(0, 1))) continue;
    // "NAME= program" sets it to nothing for the program.
    const bool is_shell = text[at + kEnd.size()] == '=';
    rest.remove_prefix(1);
    if (!is_shell) skip(rest, " ");
    const bool is_quoted = !rest.empty() && (rest[0] == '"' || rest[0] == '\'');
    const std::size_t end =
        is_quoted ? rest.find(rest[0], 1) : std::min(rest.find_first_of(" ;)}\"'`|&<>"), rest.size());
    if (end == std::string_view::npos || end > kLongestValue) continue;
    const std::string_view value = is_quoted ? rest.substr(1, end - 1) : trimmed_end(rest.substr(0, end));
    if (!is_value(value) || is_hint(before, rest.substr(end))) continue;
    name_ = name;
    value_ = value;
  }
}

}  // namespace vramscope::memory_log
