#pragma once
// Finds the first of a few words in text of any size, in capitals or not.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace vramscope {

// Wu and Manber's search: the last two of the next kShortest bytes tell how far it may go on; of ordinary text about
// every fourth byte is looked at. Words have at least kShortest bytes; at most 254 of them. Only constants:
// thread-safe.
template <std::size_t kWords>
class WordSearch {
 public:
  static constexpr std::size_t kShortest = 5;

  constexpr explicit WordSearch(const std::array<std::string_view, kWords>& words) : words_(words) {
    static_assert(kWords < 255);
    for (std::uint8_t& step : steps_) step = kShortest - 1;
    for (std::size_t i = 0; i < kWords; ++i) {
      const std::string_view word = words[i];
      for (std::size_t end = 1; end < kShortest; ++end) {
        std::uint8_t& step = steps_[pair_at(word[end - 1], word[end])];
        step = std::min(step, static_cast<std::uint8_t>(kShortest - 1 - end));
      }
      std::uint8_t& first = first_[pair_at(word[kShortest - 2], word[kShortest - 1])];
      next_[i] = std::exchange(first, static_cast<std::uint8_t>(i + 1));
    }
  }

  // Where one of them begins, at or behind `from`; npos when there is none.
  std::size_t find(std::string_view text, std::size_t from) const {
    std::size_t end = from + kShortest - 1;
    while (end < text.size()) {
      const std::size_t step = steps_[pair_at(text[end - 1], text[end])];
      if (step != 0) {
        end += step;
        continue;
      }
      const std::size_t begin = end - (kShortest - 1);
      for (std::size_t i = first_[pair_at(text[end - 1], text[end])]; i != 0; i = next_[i - 1]) {
        if (begins_with(text.substr(begin), words_[i - 1])) return begin;
      }
      ++end;
    }
    return std::string_view::npos;
  }

 private:
  static constexpr std::size_t kPairs = 4096;

  // Letters lose their case; what else is joined by it is told apart when the whole word is compared.
  static constexpr unsigned fold(char c) { return static_cast<unsigned char>(c) | 0x20u; }
  static constexpr std::size_t pair_at(char first, char second) { return ((fold(first) << 5) ^ fold(second)) % kPairs; }
  static bool begins_with(std::string_view text, std::string_view word) {
    if (text.size() < word.size()) return false;
    for (std::size_t i = 0; i < word.size(); ++i) {
      if (fold(text[i]) != fold(word[i])) return false;
    }
    return true;
  }

  std::array<std::string_view, kWords> words_;
  std::array<std::uint8_t, kPairs> steps_{};
  // Chains of the words whose first kShortest bytes end in one pair: numbers from 1, 0 ends them.
  std::array<std::uint8_t, kPairs> first_{};
  std::array<std::uint8_t, kWords> next_{};
};

}  // namespace vramscope
