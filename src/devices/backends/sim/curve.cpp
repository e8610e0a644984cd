#include "devices/backends/sim/curve.h"

#include <cmath>
#include <cstdlib>
#include <string>

namespace vramscope::sim {

namespace {

constexpr double kMost = 9007199254740992.0;  // 2^53: whole numbers up to here are exact
constexpr std::int64_t kSecond = 1'000'000'000;

struct Suffix {
  std::string_view name;
  double times;
};
constexpr Suffix kTimes[] = {{"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}, {"", 1e9}};
constexpr Suffix kAmounts[] = {{"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0},
                               {"mW", 1.0},     {"W", 1000.0},      {"MHz", 1.0},          {"%", 1.0},
                               {"", 1.0}};

template <std::size_t N>
std::optional<std::int64_t> parse_scaled(std::string_view text, const Suffix (&suffixes)[N]) {
  const std::size_t end = text.find_first_not_of("0123456789.");
  const std::string digits(text.substr(0, end));
  const std::string_view suffix = end == text.npos ? std::string_view() : text.substr(end);
  if (digits.empty() || digits.size() > 20 || digits == ".") return std::nullopt;
  for (const Suffix& known : suffixes) {
    if (known.name != suffix) continue;
    char* rest = nullptr;
    const double number = std::strtod(digits.c_str(), &rest) * known.times;
    if (*rest != '\0' || !(number <= kMost)) return std::nullopt;
    return std::llround(number);
  }
  return std::nullopt;
}

// A number in [-1, 1] that depends on its arguments alone (the mixing steps of SplitMix64).
double random_of(std::uint64_t seed, std::uint64_t step) {
  std::uint64_t x = seed * 0x9E3779B97F4A7C15ULL + step;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ x >> 27) * 0x94D049BB133111EBULL;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) / 4503599627370496.0 - 1.0;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::string_view next_word(std::string_view& text) {
  text = trimmed(text);
  const std::size_t end = text.find_first_of(" \t");
  const std::string_view word = text.substr(0, end);
  text = end == text.npos ? std::string_view() : text.substr(end);
  return word;
}

std::optional<std::int64_t> parse_time(std::string_view text) {
  return parse_scaled(text, kTimes);
}

std::optional<std::int64_t> parse_amount(std::string_view text) {
  return parse_scaled(text, kAmounts);
}

Curve::Curve(std::int64_t constant) {
  Term term;
  term.points.push_back({0, constant});
  terms_.push_back(std::move(term));
}

std::optional<Curve::Term> Curve::parse_term(std::string_view text) {
  Term term;
  std::string_view word = next_word(text);
  if (word == "noise") {
    const auto amount = parse_amount(next_word(text));
    if (!amount || !trimmed(text).empty()) return std::nullopt;
    term.noise = *amount;
    return term;
  }
  for (; !word.empty() && word != "every"; word = next_word(text)) {
    const std::size_t colon = word.find(':');
    const auto time = colon == word.npos ? std::optional<std::int64_t>(0) : parse_time(word.substr(0, colon));
    const auto value = parse_amount(colon == word.npos ? word : word.substr(colon + 1));
    if (!time || !value) return std::nullopt;
    if (!term.points.empty() && *time <= term.points.back().time_ns) return std::nullopt;
    term.points.push_back({*time, *value});
  }
  if (word == "every") {
    const auto period = parse_time(next_word(text));
    if (!period || *period <= 0) return std::nullopt;
    term.period_ns = *period;
  }
  if (term.points.empty() || !trimmed(text).empty()) return std::nullopt;
  return term;
}

std::optional<Curve> Curve::parse(std::string_view text) {
  Curve curve;
  while (true) {
    const std::size_t plus = text.find('+');
    auto term = parse_term(text.substr(0, plus));
    if (!term) return std::nullopt;
    curve.terms_.push_back(std::move(*term));
    if (plus == text.npos) return curve;
    text = text.substr(plus + 1);
  }
}

std::int64_t Curve::at(std::int64_t time_ns, std::uint64_t seed) const {
  double sum = 0;
  for (const Term& term : terms_) {
    if (term.noise != 0) {
      double noise = static_cast<double>(term.noise) * random_of(seed, static_cast<std::uint64_t>(time_ns / kSecond));
      // Memory comes in whole allocations.
      constexpr double kMebibyte = 1 << 20;
      if (term.noise >= static_cast<std::int64_t>(kMebibyte)) noise = std::round(noise / kMebibyte) * kMebibyte;
      sum += noise;
      continue;
    }
    const std::int64_t time = term.period_ns > 0 ? time_ns % term.period_ns : time_ns;
    std::size_t next = 0;
    while (next < term.points.size() && term.points[next].time_ns <= time) ++next;
    if (next == 0 || next == term.points.size()) {
      sum += static_cast<double>(term.points[next == 0 ? 0 : next - 1].value);
      continue;
    }
    const Point& a = term.points[next - 1];
    const Point& b = term.points[next];
    const double part = static_cast<double>(time - a.time_ns) / static_cast<double>(b.time_ns - a.time_ns);
    sum += static_cast<double>(a.value) + static_cast<double>(b.value - a.value) * part;
  }
  return sum > 0 ? std::llround(sum < kMost ? sum : kMost) : 0;
}

}  // namespace vramscope::sim
