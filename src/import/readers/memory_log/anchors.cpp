#include "import/readers/memory_log/anchors.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace vramscope::memory_log {

namespace {

// Every line that a wording, a table's title or a dictionary begins in holds one of them. In small letters.
constexpr std::string_view kWords[] = {"memory",   "alloc",    ".all.",     "kv cache", "killed",
                                       "oom-kill", "oom_kill", "oomkilled", "inuse",    "cumemcreate"};
constexpr std::size_t kShortest = 5;
constexpr std::size_t kPairs = 4096;

// Letters lose their case; what else is joined by it is told apart when the whole word is compared.
constexpr unsigned fold(char c) {
  return static_cast<unsigned char>(c) | 0x20u;
}
constexpr std::size_t pair_at(char first, char second) {
  return ((fold(first) << 5) ^ fold(second)) % kPairs;
}

// Wu and Manber's search: by the last two of the next kShortest bytes, how far the search may go on. 0: look closer.
constexpr std::array<std::uint8_t, kPairs> make_steps() {
  std::array<std::uint8_t, kPairs> steps{};
  for (std::uint8_t& step : steps) step = kShortest - 1;
  for (const std::string_view word : kWords) {
    for (std::size_t end = 1; end < kShortest; ++end) {
      std::uint8_t& step = steps[pair_at(word[end - 1], word[end])];
      step = std::min(step, static_cast<std::uint8_t>(kShortest - 1 - end));
    }
  }
  return steps;
}
constexpr std::array<std::uint8_t, kPairs> kSteps = make_steps();

bool begins_with(std::string_view text, std::string_view word) {
  if (text.size() < word.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (fold(text[i]) != fold(word[i])) return false;
  }
  return true;
}

}  // namespace

std::size_t find_anchor(std::string_view text, std::size_t from) {
  const char* const data = text.data();
  std::size_t end = from + kShortest - 1;
  while (end < text.size()) {
    const std::size_t step = kSteps[pair_at(data[end - 1], data[end])];
    if (step != 0) {
      end += step;
      continue;
    }
    const std::size_t begin = end - (kShortest - 1);
    for (const std::string_view word : kWords) {
      if (begins_with(text.substr(begin), word)) return begin;
    }
    ++end;
  }
  return std::string_view::npos;
}

}  // namespace vramscope::memory_log
