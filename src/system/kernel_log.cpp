#include "system/kernel_log.h"

#include <fmt/format.h>
#include <time.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

#include "base/saturate.h"
#include "system/fields.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

// Unix time of the log's zero: it counts as CLOCK_MONOTONIC does, without sleep.
std::int64_t log_zero_ns() {
  return clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && text[i + 1] == 'x' && hex_digit(text[i + 2]) >= 0 &&
        hex_digit(text[i + 3]) >= 0) {
      plain += static_cast<char>(hex_digit(text[i + 2]) * 16 + hex_digit(text[i + 3]));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::optional<KernelEvent> make_event(std::string_view message, std::int64_t time_ns) {
  auto parsed = parse_kernel_message(message);
  if (!parsed) return std::nullopt;
  return KernelEvent{time_ns, std::move(*parsed), std::string(message)};
}

// The time of "[ 123.456789] " in microseconds; takes it and what stands before it off the front.
std::optional<std::int64_t> take_bracket_time(std::string_view& line) {
  for (std::size_t open = line.find('['); open != std::string_view::npos; open = line.find('[', open + 1)) {
    const std::size_t close = line.find(']', open);
    if (close == std::string_view::npos) return std::nullopt;
    std::string_view number = line.substr(open + 1, close - open - 1);
    number = take_word(number);
    const auto whole = parse_int64(take_until(number, '.'));
    const auto micros = number.size() == 6 ? parse_int64(number) : std::nullopt;
    if (!whole || !micros || *whole < 0 || *micros < 0) continue;
    const auto scaled = product(*whole, 1'000'000);
    if (!scaled) return std::nullopt;
    line.remove_prefix(close + 1);
    if (line.starts_with(' ')) line.remove_prefix(1);
    return saturating_add(*scaled, *micros);
  }
  return std::nullopt;
}

std::int64_t to_unix_ns(std::int64_t time_us, std::int64_t zero_ns) {
  const auto since = product(time_us, 1000);
  return saturating_add(zero_ns, since ? *since : std::numeric_limits<std::int64_t>::max());
}

}  // namespace

std::optional<KmsgRecord> parse_kmsg_record(std::string_view record) {
  std::string_view line = take_until(record, '\n');  // continuation lines name the device
  const std::size_t end = line.find(';');
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view head = line.substr(0, end);
  const auto priority = parse_int64(take_until(head, ','));
  const auto sequence = parse_int64(take_until(head, ','));
  const auto time_us = parse_int64(take_until(head, ','));
  if (!priority || *priority < 0 || !sequence || !time_us || *time_us < 0) return std::nullopt;
  return KmsgRecord{*priority >> 3, *sequence, *time_us, unescape(line.substr(end + 1))};
}

std::vector<KernelEvent> parse_kernel_lines(std::string_view text, std::int64_t boot_time_ns) {
  std::vector<KernelEvent> events;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    const auto time_us = take_bracket_time(line);
    if (!time_us) continue;
    if (auto event = make_event(line, to_unix_ns(*time_us, boot_time_ns))) events.push_back(std::move(*event));
  }
  return events;
}

Result<KernelLog> KernelLog::open(std::optional<std::int64_t> since_ns, const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file) {
    return Error{ExitCode::machine,
                 fmt::format(fmt::runtime(tr("The kernel's log {path} cannot be read ({reason}); why a process was "
                                             "killed or a GPU failed may stay unknown. Run as root to read it.")),
                             fmt::arg("path", path), fmt::arg("reason", std::strerror(errno)))};
  }
  if (!since_ns) ::lseek(file.get(), 0, SEEK_END);
  return KernelLog(std::move(file), since_ns.value_or(std::numeric_limits<std::int64_t>::min()));
}

std::vector<KernelEvent> KernelLog::poll() {
  std::vector<KernelEvent> events;
  const std::int64_t zero_ns = log_zero_ns();
  std::array<char, 16384> record;  // the kernel's own bound is 8 KiB, with escapes
  for (int i = 0; i < kRecordsAPoll; ++i) {
    const ssize_t got = ::read(file_.get(), record.data(), record.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EPIPE) {
      ++overruns_;
      continue;
    }
    if (got <= 0) break;
    const auto parsed = parse_kmsg_record({record.data(), static_cast<std::size_t>(got)});
    if (!parsed || parsed->facility != 0) continue;
    const std::int64_t time_ns = to_unix_ns(parsed->time_us, zero_ns);
    if (time_ns < since_ns_) continue;
    if (auto event = make_event(parsed->message, time_ns)) events.push_back(std::move(*event));
  }
  return events;
}

}  // namespace vramscope
