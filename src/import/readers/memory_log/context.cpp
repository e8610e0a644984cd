#include "import/readers/memory_log/context.h"

#include <algorithm>

#include "import/readers/memory_log/fields.h"

namespace vramscope::memory_log {

namespace {

constexpr int kMostLines = 8;

// A date, a time of day, or seconds since 1970.
bool is_time(std::string_view word) {
  std::size_t digits = 0;
  std::size_t marks = 0;
  for (const char c : word) {
    if (is_digit(c)) {
      ++digits;
    } else if (c == ':' || c == '-' || c == '/') {
      ++marks;
    } else if (c != '.' && c != ',' && c != '[' && c != ']' && c != 'T' && c != 'Z' && c != '+' && c != '(' &&
               c != ')') {
      return false;
    }
  }
  constexpr std::size_t kEpochDigits = 10;
  return (digits >= 4 && marks >= 2) || digits >= kEpochDigits;
}

// The line that ends at `end`, without its end; moves `end` in front of it.
std::string_view take_last_line(std::string_view text, std::size_t& end) {
  while (end > 0 && (text[end - 1] == '\n' || text[end - 1] == '\r')) --end;
  std::size_t begin = end;
  while (begin > 0 && text[begin - 1] != '\n' && text[begin - 1] != '\r') --begin;
  const std::string_view line = text.substr(begin, end - begin);
  end = begin;
  return line;
}

bool is_table_line(std::string_view line) {
  return contains(line, "|----") || contains(line, "|====") || std::count(line.begin(), line.end(), '|') >= 5 ||
         contains(line, "memory summary, device ID") || contains(line, "OOMs:");
}

// Calls `look` with the last lines, nearest first, until it says that it is done.
template <typename Look>
void look_back(std::string_view text, Look look) {
  std::size_t end = text.size();
  for (int lines = 0; end > 0 && lines < kMostLines;) {
    const std::string_view line = take_last_line(text, end);
    if (line.empty() || is_table_line(line)) continue;
    ++lines;
    if (look(line, end)) return;
  }
}

std::optional<std::int64_t> number_behind_word(std::string_view line, std::string_view word) {
  for (std::size_t at = find_folded(line, word); at != std::string_view::npos; at = find_folded(line, word, at + 1)) {
    if (at > 0 && is_letter(line[at - 1])) continue;
    std::string_view rest = line.substr(at + word.size());
    std::size_t marks = 0;
    constexpr std::size_t kMostMarks = 4;
    while (marks < rest.size() && marks < kMostMarks && contains(" :=#[(\"'", rest.substr(marks, 1))) ++marks;
    rest.remove_prefix(marks);
    if (marks == 0 || rest.empty() || !is_digit(rest.front())) continue;
    if (const std::optional<std::int64_t> number = take_integer(rest)) return number;
  }
  return std::nullopt;
}

std::optional<std::int64_t> step_in(std::string_view line) {
  for (const std::string_view word : {"step", "iteration", "iter", "batch", "epoch"}) {
    if (const std::optional<std::int64_t> number = number_behind_word(line, word)) return number;
  }
  return std::nullopt;
}

// `count` digits at the front as a number from `least` to `most`; moves the text behind them.
std::optional<int> take_digits(std::string_view& text, std::size_t count, int least, int most) {
  if (text.size() < count) return std::nullopt;
  int value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_digit(text[i])) return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  if (value < least || value > most) return std::nullopt;
  text.remove_prefix(count);
  return value;
}

bool take_char(std::string_view& text, std::string_view any) {
  if (text.empty() || !contains(any, text.substr(0, 1))) return false;
  text.remove_prefix(1);
  return true;
}

// Days since 1970-01-01 in the Gregorian calendar, by counting from March.
std::int64_t days_since_1970(int year, int month, int day) {
  const std::int64_t shifted = month <= 2 ? year - 1 : year;
  const std::int64_t from_march = (month + 9) % 12;
  const std::int64_t day_of_year = (153 * from_march + 2) / 5 + day - 1;
  return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + day_of_year - 719468;
}

std::int64_t take_fraction_ns(std::string_view& text) {
  if (text.size() < 2 || (text[0] != '.' && text[0] != ',') || !is_digit(text[1])) return 0;
  text.remove_prefix(1);
  std::int64_t ns = 0;
  std::int64_t unit = 100'000'000;
  for (; !text.empty() && is_digit(text[0]); text.remove_prefix(1)) {
    ns += unit * (text[0] - '0');
    unit /= 10;
  }
  return ns;
}

std::int64_t take_zone_s(std::string_view& text) {
  if (text.empty() || (text[0] != '+' && text[0] != '-')) return 0;
  const std::int64_t sign = text[0] == '-' ? -1 : 1;
  std::string_view rest = text.substr(1);
  const std::optional<int> hours = take_digits(rest, 2, 0, 14);
  take_char(rest, ":");
  const std::optional<int> minutes = take_digits(rest, 2, 0, 59);
  if (!hours || !minutes) return 0;
  return sign * (*hours * 3600 + *minutes * 60);
}

std::optional<std::int64_t> time_at(std::string_view text) {
  const std::optional<int> year = take_digits(text, 4, 1970, 2200);
  if (!year || !take_char(text, "-/")) return std::nullopt;
  const std::optional<int> month = take_digits(text, 2, 1, 12);
  if (!month || !take_char(text, "-/")) return std::nullopt;
  const std::optional<int> day = take_digits(text, 2, 1, 31);
  if (!day || !take_char(text, " T_")) return std::nullopt;
  const std::optional<int> hour = take_digits(text, 2, 0, 23);
  if (!hour || !take_char(text, ":")) return std::nullopt;
  const std::optional<int> minute = take_digits(text, 2, 0, 59);
  if (!minute || !take_char(text, ":")) return std::nullopt;
  const std::optional<int> second = take_digits(text, 2, 0, 60);
  if (!second) return std::nullopt;
  const std::int64_t fraction_ns = take_fraction_ns(text);
  const std::int64_t seconds = days_since_1970(*year, *month, *day) * 86400 + *hour * 3600 + *minute * 60 + *second;
  return (seconds - take_zone_s(text)) * 1'000'000'000 + fraction_ns;
}

}  // namespace

std::string writer_of(std::string_view prefix) {
  std::string writer;
  while (!prefix.empty()) {
    const std::size_t length = std::min(prefix.find_first_of(" \t|"), prefix.size());
    const std::string_view word = prefix.substr(0, length);
    prefix.remove_prefix(std::min(length + 1, prefix.size()));
    if (word.empty() || is_time(word)) continue;
    writer += word;
    writer += ' ';
  }
  return writer;
}

std::optional<std::int64_t> time_in(std::string_view line) {
  constexpr std::size_t kShortest = 19;
  constexpr std::size_t kFarthest = 400;  // a time stamp stands at the front
  line = line.substr(0, kFarthest);
  for (std::size_t at = 0; at + kShortest <= line.size(); ++at) {
    if (line[at] != '1' && line[at] != '2') continue;
    if (at > 0 && is_digit(line[at - 1])) continue;
    if (const std::optional<std::int64_t> time_ns = time_at(line.substr(at))) return time_ns;
  }
  return std::nullopt;
}

std::optional<Step> step_before(std::string_view text) {
  std::optional<Step> step;
  look_back(text, [&](std::string_view line, std::size_t at) {
    if (const std::optional<std::int64_t> number = step_in(line)) step = Step{*number, at};
    return step.has_value();
  });
  return step;
}

std::optional<std::int64_t> time_before(std::string_view text) {
  std::optional<std::int64_t> time_ns;
  look_back(text, [&](std::string_view line, std::size_t) {
    time_ns = time_in(line);
    return time_ns.has_value();
  });
  return time_ns;
}

}  // namespace vramscope::memory_log
