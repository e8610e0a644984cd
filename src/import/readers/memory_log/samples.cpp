#include "import/readers/memory_log/samples.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "formats/memory_stats.h"
#include "import/readers/memory_log/context.h"
#include "import/readers/memory_log/fields.h"

namespace vramscope::memory_log {

namespace {

constexpr std::string_view kTitle = "memory summary, device ID";
constexpr std::size_t kMostOpen = 256;  // writers at a time
constexpr int kMostQuietLines = 40;     // of others in between
constexpr std::size_t kMostSamples = 1'000'000;

// The cells of a row, each with the bar that ends it: fewer where it is cut.
std::vector<std::string_view> cells_of(std::string_view text) {
  std::vector<std::string_view> cells;
  for (std::size_t bar = text.find('|'); bar != std::string_view::npos && cells.size() < 8; bar = text.find('|')) {
    cells.push_back(trim(text.substr(0, bar)));
    text.remove_prefix(bar + 1);
  }
  return cells;
}

// "1234", "1234 K", "1234 M": thousands.
std::optional<std::int64_t> count_of(std::string_view cell) {
  const std::optional<std::int64_t> number = take_integer(cell);
  cell = trim(cell);
  std::int64_t scale = 0;
  if (cell.empty()) scale = 1;
  if (cell == "K") scale = 1000;
  if (cell == "M") scale = 1'000'000;
  std::int64_t count = 0;
  if (!number || scale == 0 || __builtin_mul_overflow(*number, scale, &count)) return std::nullopt;
  return count;
}

struct Size {
  std::int64_t bytes = 0;
  std::int64_t unit_bytes = 1;
};

std::optional<Size> size_of(std::string_view cell) {
  std::string_view number = cell;
  if (!take_integer(number)) return std::nullopt;
  const std::string one = "1" + std::string(number);
  std::string_view unit = one;
  const std::optional<std::int64_t> bytes = take_size(cell);
  const std::optional<std::int64_t> unit_bytes = take_size(unit);
  if (!bytes || !unit_bytes || !trim(cell).empty()) return std::nullopt;
  return Size{*bytes, *unit_bytes};
}

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || is_digit(c) || c == '_' || c == '.';
}

struct Pair {
  std::string_view key;
  std::size_t begin = 0;
  std::size_t end = 0;  // behind the number
  std::int64_t value = 0;
};

// What stands behind a key: quotes (written-out ones, too), a mark, and a whole number, which may be negative.
bool read_value(std::string_view text, std::size_t at, Pair& pair) {
  const auto skip = [&](std::string_view any) {
    while (at < text.size() && contains(any, text.substr(at, 1))) ++at;
  };
  skip("\\\"'");
  skip(" ");
  if (at >= text.size() || !contains(":,=", text.substr(at, 1))) return false;
  ++at;
  skip(" ");
  const bool is_negative = at < text.size() && text[at] == '-';
  if (is_negative) ++at;
  std::string_view rest = text.substr(at);
  std::size_t digits = 0;
  while (digits < rest.size() && is_digit(rest[digits])) ++digits;
  std::string_view number = rest.substr(0, digits);
  const std::optional<std::int64_t> value = take_integer(number);
  const bool has_fraction = digits + 1 < rest.size() && rest[digits] == '.' && is_digit(rest[digits + 1]);
  if (!value || has_fraction) return false;
  pair.value = is_negative ? -*value : *value;
  pair.end = at + digits;
  return true;
}

// The next key of memory_stats() with its value, at or behind `from`.
std::optional<Pair> next_pair(std::string_view text, std::size_t from) {
  for (std::size_t at = from; at < text.size();) {
    if (!is_word_char(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_word_char(text[end])) ++end;
    Pair pair;
    pair.key = text.substr(at, end - at);
    pair.begin = at;
    if (memory_stats::is_key(pair.key) && read_value(text, end, pair)) return pair;
    at = end;
  }
  return std::nullopt;
}

// Whether the dictionary ends here: "}" or "])".
bool ends_dictionary(std::string_view rest) {
  while (!rest.empty() && (rest.front() == ')' || is_blank(rest.front()) || rest.front() == ',')) {
    if (rest.front() == ',') return false;
    rest.remove_prefix(1);
  }
  return !rest.empty() && (rest.front() == '}' || rest.front() == ']');
}

// Of what stands in front of the first key. Long lines name their writer at their begin.
std::string dictionary_writer(std::string_view prefix) {
  constexpr std::size_t kLongestPrefix = 256;
  prefix = prefix.substr(0, kLongestPrefix);
  while (!prefix.empty() && !is_letter(prefix.back()) && !is_digit(prefix.back()) && prefix.back() != ']' &&
         prefix.back() != '>') {
    prefix.remove_suffix(1);
  }
  constexpr std::string_view kName = "OrderedDict";
  if (prefix.size() >= kName.size() && prefix.substr(prefix.size() - kName.size()) == kName) {
    prefix.remove_suffix(kName.size());
  }
  return "dictionary " + writer_of(prefix);
}

}  // namespace

void Samples::note(const char* name, std::int64_t offset) {
  for (Trouble& each : trouble_) {
    if (each.name != name) continue;
    ++each.count;
    return;
  }
  trouble_.push_back({name, 1, offset});
}

Samples::Open& Samples::open(const std::string& writer, std::string_view text, const Line& line) {
  close(writer, false);
  if (open_.size() >= kMostOpen) close(open_.begin()->first, false);
  Open& fresh = open_[writer];
  fresh.order = opened_++;
  AllocatorStats& stats = fresh.stats;
  stats.offset = line.offset;
  stats.line = line.number;
  stats.time_ns = time_in(text);
  if (!stats.time_ns) stats.time_ns = time_before(line.before);
  return fresh;
}

bool Samples::feed_table(std::string_view text, const Line& line) {
  const std::size_t title = text.find(kTitle);
  if (title == std::string_view::npos) return feed_counts(text) || feed_row(text) || feed_rule(text);
  std::string_view rest = text.substr(title + kTitle.size());
  const std::optional<std::int64_t> device = take_integer(rest);
  constexpr std::int64_t kMostDevices = 4096;
  if (!device || *device >= kMostDevices) return false;
  const std::size_t bar = text.substr(0, title).rfind('|');
  const std::string_view prefix = bar == std::string_view::npos ? std::string_view() : text.substr(0, bar);
  Open& table = open("table " + writer_of(prefix), prefix, line);
  table.is_table = true;
  table.stats.device = static_cast<std::int32_t>(*device);
  if (const std::optional<Step> step = step_before(line.before)) {
    // A step that stands before the device's last table was that one's.
    const auto last = last_offset_.find(table.stats.device);
    const std::int64_t at = line.offset - static_cast<std::int64_t>(line.before.size() - step->at);
    if (last == last_offset_.end() || last->second < at) table.stats.step = step->number;
  }
  last_offset_[table.stats.device] = line.offset;
  return true;
}

// "| CUDA OOMs: 0 | cudaMalloc retries: 3 |"
bool Samples::feed_counts(std::string_view text) {
  const std::size_t ooms = text.find("OOMs: ");
  if (ooms == std::string_view::npos) return false;
  const std::size_t bar = text.substr(0, ooms).rfind('|');
  if (bar == std::string_view::npos) return false;
  const auto found = open_.find("table " + writer_of(text.substr(0, bar)));
  if (found == open_.end() || cells_of(text.substr(bar + 1)).size() != 2) return false;
  found->second.quiet_lines = 0;
  auto& values = found->second.stats.values;
  if (const auto count = integer_behind(text, "OOMs: ")) values["num_ooms"] = *count;
  if (const auto count = integer_behind(text, "retries: ")) values["num_alloc_retries"] = *count;
  return true;
}

void Samples::add_cells(Open& table, const std::string& keys, std::string_view cells, bool is_bytes) {
  const std::vector<std::string_view> all = cells_of(cells);
  if (all.size() < memory_stats::kColumns.size()) {
    note("cut_row", table.stats.offset);
    return;
  }
  for (std::size_t i = 0; i < memory_stats::kColumns.size(); ++i) {
    const std::string key = keys + std::string(memory_stats::kColumns[i]);
    std::optional<Size> size;
    if (is_bytes) {
      size = size_of(all[i]);
    } else if (const std::optional<std::int64_t> count = count_of(all[i])) {
      size = Size{*count, 1};
    }
    if (!size) {
      note("odd_cell", table.stats.offset);
      continue;
    }
    const bool is_new = table.stats.values.emplace(key, size->bytes).second;
    if (!is_new) table.torn.insert(key);
    table.stats.resolution_bytes = std::max(table.stats.resolution_bytes, size->unit_bytes);
  }
}

bool Samples::feed_row(std::string_view text) {
  for (std::size_t bar = text.find('|'); bar != std::string_view::npos; bar = text.find('|', bar + 1)) {
    const std::size_t next = text.find('|', bar + 1);
    if (next == std::string_view::npos) return false;
    const std::string_view label = trim(text.substr(bar + 1, next - bar - 1));
    const memory_stats::Row* const row = memory_stats::row_of(label);
    const std::string_view pool = memory_stats::pool_of(label);
    if (row == nullptr && pool.empty()) continue;
    const auto found = open_.find("table " + writer_of(text.substr(0, bar)));
    if (found == open_.end()) return false;
    Open& table = found->second;
    table.quiet_lines = 0;
    const std::string_view cells = text.substr(next + 1);
    if (row != nullptr) {
      table.stem = row->has_pools ? std::string(row->stem) : std::string();
      add_cells(table, std::string(row->stem) + (row->has_pools ? ".all." : "."), cells, row->is_bytes);
    } else if (!table.stem.empty()) {
      const bool is_bytes = contains(table.stem, "_bytes");
      add_cells(table, table.stem + "." + std::string(pool) + ".", cells, is_bytes);
    }
    return true;
  }
  return false;
}

// A rule of "=" below rows ends a table.
bool Samples::feed_rule(std::string_view text) {
  const std::size_t rule = text.find("|====");
  if (rule == std::string_view::npos) return false;
  const std::string writer = "table " + writer_of(text.substr(0, rule));
  const auto found = open_.find(writer);
  if (found == open_.end()) return false;
  found->second.quiet_lines = 0;
  constexpr std::size_t kCounts = 2;  // num_ooms and num_alloc_retries stand above the rows
  if (found->second.stats.values.size() > kCounts) close(writer, true);
  return true;
}

// The open dictionary that a line of this writer goes on with: of a dictionary in many lines the first has more in
// front of its key ("stats: {").
std::string Samples::joined_writer(const std::string& writer, const std::string& key) const {
  if (open_.count(writer) != 0) return writer;
  const std::string* joined = nullptr;
  std::size_t order = 0;
  for (const auto& [name, each] : open_) {
    const bool fits =
        !each.is_table && name.compare(0, writer.size(), writer) == 0 && each.stats.values.count(key) == 0;
    if (!fits || (joined != nullptr && each.order < order)) continue;
    joined = &name;
    order = each.order;
  }
  return joined != nullptr ? *joined : writer;
}

void Samples::begin_dictionary(AllocatorStats& stats, std::string_view before, const Line& line) {
  stats.device = device_in(before).value_or(0);
  std::optional<Step> step = step_before(before);
  if (!step) {
    step = step_before(line.before);
    const auto last = last_offset_.find(stats.device);
    if (step && last != last_offset_.end()) {
      const std::int64_t at = line.offset - static_cast<std::int64_t>(line.before.size() - step->at);
      if (last->second >= at) step.reset();
    }
  }
  if (step) stats.step = step->number;
  last_offset_[stats.device] = line.offset;
}

bool Samples::feed_dictionary(std::string_view text, const Line& line) {
  std::size_t at = 0;
  bool has_any = false;
  std::string writer;
  std::size_t dictionary_begin = 0;  // behind the dictionary before it on the line
  while (const std::optional<Pair> pair = next_pair(text, at)) {
    at = pair->end;
    const std::string key(pair->key);
    if (!has_any && open_.empty() && !memory_stats::is_dotted_key(key)) continue;
    if (!has_any) writer = joined_writer(dictionary_writer(text.substr(0, pair->begin)), key);
    auto found = open_.find(writer);
    if (found != open_.end() && found->second.stats.values.count(key) != 0) {
      close(writer, true);
      found = open_.end();
    }
    if (found == open_.end() && !memory_stats::is_dotted_key(key)) continue;
    has_any = true;
    const std::string_view before = text.substr(dictionary_begin, pair->begin - dictionary_begin);
    Open& dictionary = found == open_.end() ? open(writer, before, line) : found->second;
    if (dictionary.stats.values.empty()) begin_dictionary(dictionary.stats, before, line);
    dictionary.quiet_lines = 0;
    dictionary.stats.values[key] = pair->value;
    if (ends_dictionary(text.substr(at))) {
      close(writer, true);
      dictionary_begin = at;
    }
  }
  return has_any;
}

void Samples::close(const std::string& writer, bool is_whole) {
  const auto found = open_.find(writer);
  if (found == open_.end()) return;
  Open done = std::move(found->second);
  open_.erase(found);
  if (!done.torn.empty()) note("mixed_tables", done.stats.offset);
  for (const std::string& key : done.torn) done.stats.values.erase(key);
  if (done.is_table && !is_whole) note("cut_table", done.stats.offset);
  if (done.stats.values.empty()) return;
  if (out_.size() >= kMostSamples) {
    note("too_many_samples", done.stats.offset);
    return;
  }
  ++(done.is_table ? tables_ : dictionaries_);
  out_.push_back(std::move(done.stats));
}

void Samples::age() {
  std::vector<std::string> old;
  for (auto& [writer, each] : open_) {
    if (++each.quiet_lines > kMostQuietLines) old.push_back(writer);
  }
  for (const std::string& writer : old) close(writer, false);
}

void Samples::feed(const Line& line) {
  const bool has_escapes = contains(line.text, "\033");
  const std::string clean = has_escapes ? without_escapes(line.text) : std::string();
  const std::string_view text = has_escapes ? std::string_view(clean) : line.text;
  age();
  if (contains(text, "|") && feed_table(text, line)) return;
  if (!open_.empty() || contains(text, ".all.") || contains(text, "_pool.")) feed_dictionary(text, line);
}

void Samples::finish() {
  while (!open_.empty()) {
    const auto first = std::min_element(open_.begin(), open_.end(),
                                        [](const auto& a, const auto& b) { return a.second.order < b.second.order; });
    close(first->first, !first->second.is_table);
  }
  std::stable_sort(out_.begin(), out_.end(),
                   [](const AllocatorStats& a, const AllocatorStats& b) { return a.offset < b.offset; });
}

}  // namespace vramscope::memory_log
