#include "import/readers/nvidia_smi/layouts.h"

#include <algorithm>
#include <array>

#include "import/foreign.h"
#include "import/readers/memory_log/utf8_stream.h"
#include "import/readers/nvidia_smi/cells.h"
#include "import/readers/nvidia_smi/csv_header.h"
#include "import/readers/nvidia_smi/lines.h"
#include "import/readers/nvidia_smi/monitor_header.h"
#include "import/readers/nvidia_smi/times.h"

namespace vramscope::nvidia_smi {

namespace {

bool contains(std::string_view text, std::string_view words) {
  return text.find(words) != text.npos;
}

// What the reader of other logs is for.
bool is_for_memory_log(std::string_view line) {
  return contains(line, "out of memory") || contains(line, "CUDA memory summary") ||
         contains(line, "RESOURCE_EXHAUSTED") || contains(line, "_bytes.all.");
}

// Counts the lines of the head that belong to something.
class Census {
 public:
  void add(std::string_view line) {
    const std::string_view text = trimmed(line);
    if (text.empty() || text[0] == '#') {
      if (const Layout begun = layout_begun_by(line); begun == Layout::monitor) begin(begun, line);
      return;
    }
    ++lines_;
    if (is_for_memory_log(text)) has_other_ = true;
    if (const Layout begun = layout_begun_by(line); begun != Layout::none) {
      if (begun == Layout::headerless_csv && (now_ == Layout::csv || now_ == Layout::table)) {
        ++own_;
        return;
      }
      begin(begun, line);
      return;
    }
    if (belongs(text)) ++own_;
  }
  Layout verdict() const {
    std::size_t kinds = 0;
    Layout last = Layout::none;
    for (const Layout each : {Layout::csv, Layout::xml, Layout::q, Layout::table, Layout::monitor}) {
      if (!begun_[static_cast<std::size_t>(each)]) continue;
      ++kinds;
      last = each;
    }
    if (kinds == 0 && begun_[static_cast<std::size_t>(Layout::headerless_csv)]) last = Layout::headerless_csv;
    // A quarter of the lines: threads have sentences around what they quote.
    constexpr std::int64_t kOf = 4;
    if (last == Layout::none || has_other_) return Layout::none;
    if (kinds > 1 && is_sectioned_) return Layout::bundle;
    if (own_ * kOf < lines_) return Layout::none;
    return kinds > 1 ? Layout::bundle : last;
  }
  void note_section() { is_sectioned_ = true; }

 private:
  void begin(Layout layout, std::string_view line) {
    ++own_;
    now_ = layout;
    begun_[static_cast<std::size_t>(layout)] = true;
    if (layout == Layout::csv) columns_ = parse_csv_header(line)->columns.size();
  }
  bool belongs(std::string_view text) const {
    switch (now_) {
      case Layout::csv:
        // A value of a single column is a short word.
        return columns_ == 1 ? text.size() < 24
                             : std::count(text.begin(), text.end(), ',') + 1 >= static_cast<std::ptrdiff_t>(columns_) ||
                                   contains(text, ";") || contains(text, "\t");
      case Layout::xml:
        return contains(text, "<");
      case Layout::q:
        return true;
      case Layout::table:
        return text[0] == '|' || text[0] == '+' || parse_time(text).has_value() || text.size() < 3;
      case Layout::monitor:
        return text[0] >= '0' && text[0] <= '9';
      default:
        return text[0] == '|' || text[0] == '+' || parse_time(text).has_value();
    }
  }

  std::int64_t lines_ = 0;  // that are not blank
  std::int64_t own_ = 0;
  std::array<bool, 8> begun_{};
  Layout now_ = Layout::none;
  std::size_t columns_ = 0;
  bool has_other_ = false;
  bool is_sectioned_ = false;
};

}  // namespace

Layout layout_begun_by(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (text.empty()) return Layout::none;
  if (text[0] == '<') {
    return contains(text, "<nvidia_smi_log") || contains(text, "<!DOCTYPE nvidia_smi_log") ? Layout::xml : Layout::none;
  }
  if (text[0] == '=' && contains(text, "=NVSMI LOG=")) return Layout::q;
  if (text[0] == '|')
    return contains(text, "NVIDIA-SMI") || contains(text, "MIG devices:") ? Layout::table : Layout::none;
  if (text[0] == '#') return parse_monitor_header(text) ? Layout::monitor : Layout::none;
  if (parse_csv_header(line)) return Layout::csv;
  return is_headerless_row(text) ? Layout::headerless_csv : Layout::none;
}

namespace {

// Calls `see` with each line of a text, made plain; nothing of what is no text.
template <typename See>
void for_each_line(const Head& head, const See& see) {
  if (head.bytes.empty() || recognise_foreign(head.bytes) != nullptr) return;
  std::string converted;
  std::string_view text = head.bytes;
  if (memory_log::has_utf16_mark(text)) {
    converted = memory_log::utf8_of(text);
    text = converted;
  }
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (text.substr(0, kMark.size()) == kMark) text.remove_prefix(kMark.size());
  const std::string_view first = trimmed(text.substr(0, 256));
  if (!first.empty() && (first[0] == '{' || first[0] == '[')) return;
  std::string line;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    // A last line that the head cuts says nothing.
    if (end == text.npos && !head.is_whole_file) break;
    line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    clean_line(line);
    see(line);
  }
}

}  // namespace

Layout layout_of(const Head& head) {
  Census census;
  for_each_line(head, [&](const std::string& line) {
    constexpr std::string_view kSection = "####################";
    if (line.compare(0, kSection.size(), kSection) == 0) census.note_section();
    census.add(line);
  });
  return census.verdict();
}

bool has_line(const Head& head, bool (*is_it)(std::string_view line)) {
  bool is_found = false, is_other = false;
  for_each_line(head, [&](const std::string& line) {
    is_found = is_found || is_it(line);
    is_other = is_other || is_for_memory_log(line);
  });
  return is_found && !is_other;
}

}  // namespace vramscope::nvidia_smi
