#include "import/readers/memory_log/anchors.h"

#include <array>

#include "text/word_search.h"

namespace vramscope::memory_log {

namespace {

// Every line that a wording, a table's title or a dictionary begins in holds one of them.
constexpr std::array<std::string_view, 10> kWords = {"memory",   "alloc",    ".all.",     "kv cache", "killed",
                                                     "oom-kill", "oom_kill", "oomkilled", "inuse",    "cumemcreate"};
constexpr WordSearch kSearch(kWords);

}  // namespace

std::size_t find_anchor(std::string_view text, std::size_t from) {
  return kSearch.find(text, from);
}

}  // namespace vramscope::memory_log
