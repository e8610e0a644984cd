#include "text/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "text/catalogue.h"
#include "text/format.h"
#include "text/utf8.h"

namespace vramscope {
namespace {

constexpr std::size_t kMaxColumns = 9999;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

bool is_screen(int descriptor) {
  return isatty(descriptor) == 1;
}

bool is_dumb() {
  const std::string_view term = environment("TERM");
  return term.empty() || term == "dumb";
}

// 0 when unknown.
std::size_t window_columns(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::size_t columns_variable() {
  const std::string_view text = environment("COLUMNS");
  std::size_t columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && columns <= kMaxColumns ? columns : 0;
}

// The locale's name tells its character set; it need not be installed.
bool locale_is_utf8() {
  std::string locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    locale = environment(name);
    if (!locale.empty()) break;
  }
  for (char& c : locale) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return locale.find(".utf-8") != std::string::npos || locale.find(".utf8") != std::string::npos;
}

long long now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

std::string progress_text(long long done, long long total) {
  if (total <= 0) return format_bytes(done);
  const long long shown = done < total ? done : total;  // a growing file may pass its first size
  const double share = static_cast<double>(shown) / static_cast<double>(total);
  return fmt::format(fmt::runtime(tr("{percent} % of {total}")), fmt::arg("percent", static_cast<int>(share * 100)),
                     fmt::arg("total", format_bytes(total)));
}

}  // namespace

Terminal detect_terminal() {
  Terminal found;
  found.is_terminal = is_screen(STDOUT_FILENO);
  found.colour = found.is_terminal && !is_dumb() && environment("NO_COLOR").empty();
  found.utf8 = locale_is_utf8();
  found.columns = columns_variable();
  if (found.columns == 0 && found.is_terminal) {
    found.columns = window_columns(STDOUT_FILENO);
    if (found.columns == 0) found.columns = 80;
  }
  if (found.columns == 0) {
    found.columns = 100;
    return found;
  }
  found.columns = std::max(found.columns, kFewestColumns);
  found.fit = Fit::width;
  return found;
}

Terminal& terminal() {
  static Terminal current = detect_terminal();
  return current;
}

namespace {
constexpr std::size_t kNoLimit = 100'000;
}

std::size_t table_columns() {
  return terminal().fit == Fit::nothing ? kNoLimit : terminal().columns;
}

std::size_t line_columns() {
  return terminal().fit == Fit::width ? terminal().columns : kNoLimit;
}

std::string paint(std::string_view text, Colour colour) {
  if (!terminal().colour || text.empty()) return std::string(text);
  const char* code = "1";
  switch (colour) {
    case Colour::red:
      code = "31";
      break;
    case Colour::yellow:
      code = "33";
      break;
    case Colour::green:
      code = "32";
      break;
    case Colour::blue:
      code = "34";
      break;
    case Colour::cyan:
      code = "36";
      break;
    case Colour::grey:
      code = "90";
      break;
    case Colour::bold:
      break;
  }
  return fmt::format("\033[{}m{}\033[0m", code, text);
}

ProgressLine::ProgressLine(std::string label)
    : label_(printable(label)), enabled_(is_screen(STDERR_FILENO) && !is_dumb()), start_ms_(now_ms()) {}

ProgressLine::~ProgressLine() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

bool ProgressLine::is_due() const {
  constexpr long long kFirstMs = 250;  // short work shows nothing
  constexpr long long kRedrawMs = 100;
  const long long now = now_ms();
  return enabled_ && now - start_ms_ >= kFirstMs && (!drawn_ || now - last_ms_ >= kRedrawMs);
}

void ProgressLine::update(long long done_bytes, long long total_bytes) {
  if (is_due()) update(progress_text(done_bytes, total_bytes));
}

void ProgressLine::update(const std::string& amount) {
  if (!is_due()) return;
  last_ms_ = now_ms();
  drawn_ = true;
  std::size_t columns = window_columns(STDERR_FILENO);
  if (columns == 0) columns = 80;
  const std::size_t taken = display_width(amount) + 3;  // two blanks, and the last column stays free
  const std::string label = elide_middle(label_, columns > taken ? columns - taken : 0, !locale_is_utf8());
  std::fprintf(stderr, "\r%s  %s\033[K", label.c_str(), amount.c_str());
  std::fflush(stderr);
}

}  // namespace vramscope
