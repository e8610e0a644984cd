#include "import/readers/memory_timeline/timeline.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/saturate.h"

namespace vramscope::memory_timeline {

namespace {

constexpr std::int64_t kYear2000_ns = 946'684'800'000'000'000;
// Microseconds of the year 5138; nanoseconds of 1973.
constexpr std::int64_t kMostMicroseconds = 100'000'000'000'000'000;
constexpr std::size_t kMostNumbers = std::size_t{1} << 28;
constexpr std::size_t kEntryNumbers = 4;

bool is_action(std::int64_t action) {
  return action >= kFirstAction && action <= kLastAction;
}
bool is_category(std::int64_t category) {
  return category >= 0 && category < static_cast<std::int64_t>(kCategories.size());
}

// The numbers of the list that begins at the front, up to `most`; whether it ends is told.
struct FirstList {
  std::vector<std::int64_t> numbers;
  bool is_closed = false;
  Token behind = Token::end;  // the first token behind it and a comma, and the one behind that
  Token behind_that = Token::end;
};

bool read_first(NumberLists& lists, FirstList& first) {
  if (lists.next() != Token::open || lists.next() != Token::open) return false;
  Token token = lists.next();
  while (token == Token::number) {
    first.numbers.push_back(lists.number());
    token = lists.next();
    if (token == Token::comma) token = lists.next();
  }
  if (token == Token::end) return true;
  if (token != Token::close) return false;
  first.is_closed = true;
  const Token separator = lists.next();
  if (separator == Token::close) return true;
  if (separator != Token::comma && separator != Token::end) return false;
  first.behind = lists.next();
  first.behind_that = lists.next();
  return true;
}

}  // namespace

Form form_of(std::string_view head) {
  const std::unique_ptr<ByteStream> bytes = memory_stream(head, head.size() + 1);
  const Progress no_progress;
  NumberLists lists(*bytes, no_progress);
  FirstList first;
  if (!read_first(lists, first)) return Form::none;
  // Times ascend, once the recording has begun.
  const auto begin =
      std::find_if(first.numbers.begin(), first.numbers.end(), [](std::int64_t t) { return t != kBefore; });
  const bool ascends = std::is_sorted(begin, first.numbers.end());
  if (!first.is_closed) return first.numbers.size() > kEntryNumbers && ascends ? Form::sizes : Form::none;
  if (first.behind == Token::open && (first.behind_that == Token::open || first.behind_that == Token::close)) {
    return ascends ? Form::sizes : Form::none;
  }
  const bool is_entry =
      first.numbers.size() == kEntryNumbers && is_action(first.numbers[1]) && is_category(first.numbers[3]);
  return is_entry && first.behind_that != Token::malformed ? Form::raw : Form::none;
}

Timeline::Timeline(NumberLists& lists) : lists_(lists) {
  for (const std::string_view category : kCategories) timeline_.categories.emplace_back(category);
  timeline_.bytes.resize(kCategories.size());
}

void Timeline::note(const char* name) {
  for (Trouble& each : trouble_) {
    if (each.name != name) continue;
    ++each.count;
    return;
  }
  trouble_.push_back({name, 1, lists_.offset()});
}

bool Timeline::read_list(Numbers& numbers) {
  numbers.clear();
  Token token = lists_.next();
  while (token == Token::number && numbers.size() < kMostNumbers) {
    numbers.push_back(lists_.number());
    token = lists_.next();
    if (token == Token::comma) {
      token = lists_.next();
      if (token != Token::number) return false;
    }
  }
  return token == Token::close;
}

bool Timeline::goes_on() {
  const Token token = lists_.next();
  if (token == Token::close) is_closed_ = true;
  return token == Token::comma && lists_.next() == Token::open;
}

void Timeline::add_point(std::int64_t time_ns) {
  if (!timeline_.time_ns.empty() && time_ns < timeline_.time_ns.back()) {
    note("time_goes_back");
    time_ns = timeline_.time_ns.back();
  }
  timeline_.time_ns.push_back(time_ns);
  for (std::size_t i = 0; i < now_.size(); ++i) timeline_.bytes[i].push_back(now_[i]);
}

void Timeline::take_entry(const Numbers& entry) {
  if (entry.size() != kEntryNumbers || !is_action(entry[1]) || !is_category(entry[3])) {
    note("odd_entry");
    return;
  }
  const std::int64_t time_ns = entry[0];
  if (has_pending_ && time_ns != pending_ns_) {
    // What was there before is known from the first real time on.
    add_point(pending_ns_ == kBefore ? time_ns : pending_ns_);
  }
  const std::size_t category = static_cast<std::size_t>(entry[3]);
  now_[category] = saturating_add(now_[category], entry[2]);
  ++by_category_[category];
  ++events_;
  ++kept_;
  has_pending_ = true;
  pending_ns_ = time_ns;
}

void Timeline::read_raw() {
  Numbers entry;
  bool has_entry = lists_.next() == Token::open && lists_.next() == Token::open;
  while (has_entry && read_list(entry)) {
    take_entry(entry);
    has_entry = goes_on();
  }
  if (has_pending_) add_point(pending_ns_ == kBefore ? 0 : pending_ns_);
}

void Timeline::read_sizes() {
  Numbers times;
  Numbers row;
  const bool has_times = lists_.next() == Token::open && lists_.next() == Token::open && read_list(times);
  bool has_row = has_times && lists_.next() == Token::comma && lists_.next() == Token::open;
  if (has_row) {
    const Token first = lists_.next();
    if (first == Token::close) is_closed_ = lists_.next() == Token::close;
    has_row = first == Token::open;
  }
  const auto first_real = std::find_if(times.begin(), times.end(), [](std::int64_t time) { return time != kBefore; });
  const std::int64_t first_time = first_real == times.end() ? 0 : *first_real;
  while (has_row && read_list(row)) {
    const std::size_t point = static_cast<std::size_t>(events_);
    if (point >= times.size()) break;
    if (row.size() != kColumns) {
      note("odd_row");
    } else {
      ++kept_;
    }
    for (std::size_t i = 0; i < now_.size() && row.size() == kColumns; ++i) now_[i] = row[i + 1];
    const std::int64_t time = times[point] == kBefore ? first_time : times[point];
    std::int64_t time_ns = time;
    const bool is_micro = time < kMostMicroseconds;
    if (is_micro && __builtin_mul_overflow(time, std::int64_t{1000}, &time_ns)) time_ns = 0;
    add_point(time_ns);
    ++events_;
    has_row = goes_on();
  }
  // The list of rows is closed; so must be the whole.
  if (is_closed_ && events_ > 0) is_closed_ = lists_.next() == Token::close;
  if (static_cast<std::size_t>(events_) < times.size() && is_closed_) note("rows_missing");
}

void Timeline::read(Form form) {
  is_raw_ = form == Form::raw;
  if (is_raw_) {
    read_raw();
  } else {
    read_sizes();
  }
  if (!is_closed_) note("cut_file");
}

void Timeline::give(Source& source) {
  const auto& times = timeline_.time_ns;
  timeline_.is_relative = times.empty() || times[0] < kYear2000_ns;
  if (!times.empty()) {
    source.start_ns = times[0];
    source.end_ns = times.back();
  }
  if (!is_raw_ && events_ > 0) source.events_by_category.push_back({"memory_timeline", events_});
  for (std::size_t i = 0; i < kCategories.size() && is_raw_; ++i) {
    if (by_category_[i] > 0) source.events_by_category.push_back({std::string(kCategories[i]), by_category_[i]});
  }
  std::sort(source.events_by_category.begin(), source.events_by_category.end(),
            [](const CategoryCount& a, const CategoryCount& b) { return a.name < b.name; });
  source.events = events_;
  source.version = is_raw_ ? "raw" : "sizes";
  source.trouble = std::move(trouble_);
  source.memory_timeline = std::move(timeline_);
}

}  // namespace vramscope::memory_timeline
