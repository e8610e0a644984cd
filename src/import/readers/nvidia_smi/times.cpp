#include "import/readers/nvidia_smi/times.h"

#include <array>

namespace vramscope::nvidia_smi {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// What is left of a text, taken from the front.
struct Rest {
  std::string_view text;

  bool take(char c) {
    if (text.empty() || text.front() != c) return false;
    text.remove_prefix(1);
    return true;
  }
  bool take_any(std::string_view of) {
    if (text.empty() || of.find(text.front()) == of.npos) return false;
    text.remove_prefix(1);
    return true;
  }
  void skip_blanks() {
    while (take_any(" \t")) {
    }
  }
  // Between `least` and `most` digits; no more may follow.
  std::optional<std::int64_t> number(std::size_t least, std::size_t most) {
    std::size_t size = 0;
    std::int64_t value = 0;
    while (size < text.size() && size <= most && text[size] >= '0' && text[size] <= '9') {
      value = value * 10 + (text[size] - '0');
      ++size;
    }
    if (size < least || size > most) return std::nullopt;
    text.remove_prefix(size);
    return value;
  }
  std::string_view word() {
    std::size_t size = 0;
    while (size < text.size() && ((text[size] >= 'A' && text[size] <= 'Z') || (text[size] >= 'a' && text[size] <= 'z')))
      ++size;
    const std::string_view found = text.substr(0, size);
    text.remove_prefix(size);
    return found;
  }
};

bool is_date(std::int64_t year, std::int64_t month, std::int64_t day) {
  return year >= 1970 && year < 2262 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

// Days from 1970-01-01 in the Gregorian calendar: whole 400-year cycles, with years that begin in March.
std::int64_t days_since_1970(std::int64_t year, std::int64_t month, std::int64_t day) {
  const std::int64_t y = month <= 2 ? year - 1 : year;
  const std::int64_t m = month <= 2 ? month + 9 : month - 3;
  constexpr std::int64_t kDaysBefore1970 = 719468;  // since 0000-03-01
  return y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1 - kDaysBefore1970;
}

// ".635", ",635": nanoseconds; 0 when there is none.
std::optional<std::int64_t> take_fraction(Rest& rest) {
  if (!rest.take_any(".,")) return 0;
  std::int64_t ns = 0;
  std::int64_t scale = kSecond;
  std::size_t digits = 0;
  while (!rest.text.empty() && rest.text.front() >= '0' && rest.text.front() <= '9') {
    scale /= 10;
    ns += scale * (rest.text.front() - '0');
    rest.text.remove_prefix(1);
    ++digits;
  }
  if (digits == 0) return std::nullopt;
  return ns;
}

// "18:53:36.635", "18:53": nanoseconds since midnight.
std::optional<std::int64_t> take_clock(Rest& rest) {
  const auto hours = rest.number(1, 2);
  if (!hours || *hours > 23 || !rest.take(':')) return std::nullopt;
  const auto minutes = rest.number(2, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  std::int64_t ns = (*hours * 60 + *minutes) * 60 * kSecond;
  if (!rest.take(':')) return ns;
  const auto seconds = rest.number(2, 2);
  if (!seconds || *seconds > 60) return std::nullopt;
  const auto fraction = take_fraction(rest);
  if (!fraction) return std::nullopt;
  return ns + *seconds * kSecond + *fraction;
}

// "Z", "+08:00", "+0800", " UTC": what to take from the time for UTC; nullopt when there is none.
std::optional<std::int64_t> take_zone(Rest& rest) {
  Rest tried = rest;
  tried.skip_blanks();
  const bool is_east = !tried.text.empty() && tried.text.front() == '+';
  if (tried.take_any("+-")) {
    const auto hours = tried.number(2, 2);
    std::optional<std::int64_t> minutes;
    std::optional<std::int64_t> both;
    if (hours && tried.take(':')) minutes = tried.number(2, 2);
    if (!hours) both = tried.number(4, 4);
    if (both) minutes = *both % 100;
    const std::int64_t h = hours ? *hours : both.value_or(0) / 100;
    if ((!hours && !both) || h > 23 || minutes.value_or(0) > 59) return std::nullopt;
    rest = tried;
    const std::int64_t ns = (h * 60 + minutes.value_or(0)) * 60 * kSecond;
    return is_east ? ns : -ns;
  }
  const std::string_view word = tried.word();
  if (word != "Z" && word != "UTC" && word != "GMT") return std::nullopt;
  rest = tried;
  return 0;
}

constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kDays = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};

// "Fri Jan 27 11:32:31 2023" of ctime(3), and with a zone in front of the year as `date` has it.
std::optional<LogTime> parse_ctime(Rest rest) {
  const std::string_view day_name = rest.word();
  bool is_day = false;
  for (const std::string_view each : kDays) is_day = is_day || each == day_name;
  if (!is_day) return std::nullopt;
  rest.skip_blanks();
  const std::string_view month_name = rest.word();
  std::int64_t month = 0;
  for (std::size_t i = 0; i < kMonths.size(); ++i) {
    if (kMonths[i] == month_name) month = static_cast<std::int64_t>(i) + 1;
  }
  rest.skip_blanks();
  const auto day = rest.number(1, 2);
  rest.skip_blanks();
  const auto clock_ns = take_clock(rest);
  if (month == 0 || !day || !clock_ns) return std::nullopt;
  rest.skip_blanks();
  LogTime time;
  const std::string_view word = rest.word();
  const bool is_afternoon = word == "PM";
  if (word == "UTC" || word == "GMT") time.clock = LogClock::zoned;
  rest.skip_blanks();
  rest.word();  // a zone behind AM or PM
  rest.skip_blanks();
  const auto year = rest.number(4, 4);
  if (!year || !rest.text.empty() || !is_date(*year, month, *day)) return std::nullopt;
  constexpr std::int64_t kNoon = 12 * 3600 * kSecond;
  time.ns = days_since_1970(*year, month, *day) * 86'400 * kSecond + *clock_ns;
  if (is_afternoon && *clock_ns < kNoon) time.ns += kNoon;
  if (word == "AM" && *clock_ns >= kNoon) time.ns -= kNoon;
  return time;
}

struct Date {
  std::int64_t year = 0, month = 0, day = 0;
  bool is_order_assumed = false;
};

// "2023/06/22", "2023-06-22", "20230622", "03-11-2026".
std::optional<Date> take_date(Rest& rest) {
  Rest tried = rest;
  Date date;
  if (const auto compact = tried.number(8, 8)) {
    date = {*compact / 10000, *compact / 100 % 100, *compact % 100, false};
  } else if (const auto year = tried.number(4, 4)) {
    if (!tried.take_any("/-.")) return std::nullopt;
    const auto month = tried.number(1, 2);
    if (!month || !tried.take_any("/-.")) return std::nullopt;
    const auto day = tried.number(1, 2);
    if (!day) return std::nullopt;
    date = {*year, *month, *day, false};
  } else {
    const auto first = tried.number(1, 2);
    const bool is_dotted = !tried.text.empty() && tried.text.front() == '.';
    if (!first || !tried.take_any("/-.")) return std::nullopt;
    const auto second = tried.number(1, 2);
    if (!second || !tried.take_any("/-.")) return std::nullopt;
    const auto last = tried.number(4, 4);
    if (!last) return std::nullopt;
    const bool is_day_first = *first > 12 || (is_dotted && *second <= 12);
    date = is_day_first ? Date{*last, *second, *first, false} : Date{*last, *first, *second, *second <= 12};
  }
  if (!is_date(date.year, date.month, date.day)) return std::nullopt;
  rest = tried;
  return date;
}

// 1695835015, 1695835015.123, 1695835015123.
std::optional<LogTime> parse_unix(Rest rest) {
  std::size_t digits = 0;
  while (digits < rest.text.size() && rest.text[digits] >= '0' && rest.text[digits] <= '9') ++digits;
  if (digits != 10 && digits != 13) return std::nullopt;
  const auto number = rest.number(digits, digits);
  const auto fraction = take_fraction(rest);
  if (!number || !fraction || !rest.text.empty()) return std::nullopt;
  if (digits == 13) return LogTime{*number * 1'000'000, LogClock::zoned, false};
  if (*number > 9'000'000'000) return std::nullopt;
  return LogTime{*number * kSecond + *fraction, LogClock::zoned, false};
}

}  // namespace

std::optional<LogTime> parse_time(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  Rest rest{text};
  rest.skip_blanks();
  constexpr std::size_t kLongest = 64;
  if (rest.text.empty() || rest.text.size() > kLongest) return std::nullopt;
  if (const auto time = parse_unix(rest)) return time;
  if (const auto time = parse_ctime(rest)) return time;
  LogTime time;
  const auto date = take_date(rest);
  if (date) {
    if (!rest.take('T')) rest.skip_blanks();
    time.is_order_assumed = date->is_order_assumed;
    time.ns = days_since_1970(date->year, date->month, date->day) * 86'400 * kSecond;
  } else {
    time.clock = LogClock::time_of_day;
  }
  const auto clock_ns = take_clock(rest);
  if (!clock_ns) return std::nullopt;
  time.ns += *clock_ns;
  if (date) {
    if (const auto zone_ns = take_zone(rest)) {
      time.ns -= *zone_ns;
      time.clock = LogClock::zoned;
    }
  }
  rest.skip_blanks();
  if (!rest.text.empty()) return std::nullopt;
  return time;
}

}  // namespace vramscope::nvidia_smi
