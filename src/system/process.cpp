#include "system/process.h"

#include <array>
#include <limits>

#include "system/fields.h"

namespace vramscope {

namespace {

std::optional<std::int32_t> to_pid(std::optional<std::int64_t> value) {
  if (!value || *value < 0 || *value > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  return static_cast<std::int32_t>(*value);
}

std::optional<std::int64_t> not_negative(std::optional<std::int64_t> value) {
  return value && *value >= 0 ? value : std::nullopt;
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');  // only numbers follow the name
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  ProcessStat stat;
  stat.name = text.substr(open + 1, close - open - 1);
  std::string_view rest = text.substr(close + 1);

  const std::string_view state = take_word(rest);
  if (state.size() == 1 && ((state[0] >= 'A' && state[0] <= 'Z') || (state[0] >= 'a' && state[0] <= 'z'))) {
    stat.state = state[0];
  }
  constexpr std::size_t kFirst = 4, kLast = 28;  // numbers of fields as in proc(5)
  constexpr std::uint32_t kUsed =
      1u << 4 | 1u << 6 | 1u << 9 | 1u << 14 | 1u << 15 | 1u << 20 | 1u << 22 | 1u << 24 | 1u << 28;
  std::array<std::optional<std::int64_t>, kLast + 1> field;
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  for (std::size_t i = kFirst; i <= kLast; ++i) {
    // A number that the end of the text cuts short is another number: one that counts has a space behind it.
    const std::size_t end = rest.find(' ');
    if (end == std::string_view::npos) break;
    if ((kUsed >> i & 1) != 0) field[i] = parse_int64(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  const auto start = not_negative(field[22]);
  if (!start) return std::nullopt;
  stat.start_ticks = *start;
  stat.ppid = to_pid(field[4]);
  stat.session_id = to_pid(field[6]);
  const auto user = not_negative(field[14]), system = not_negative(field[15]);
  std::int64_t sum = 0;
  if (user && system && !__builtin_add_overflow(*user, *system, &sum)) stat.cpu_ticks = sum;
  stat.threads = not_negative(field[20]);
  stat.rss_pages = not_negative(field[24]);
  constexpr std::int64_t kKernelThread = 0x200000;  // PF_KTHREAD of the kernel's sched.h
  stat.is_kernel_thread = field[9] && (*field[9] & kKernelThread) != 0;
  if (field[28] && *field[28] > 1) stat.stack_start = field[28];  // 0 and 1 stand for "not allowed"
  return stat;
}

ProcessStatus parse_process_status(std::string_view text) {
  ProcessStatus status;
  if (auto uids = find_line(text, "Uid:")) {
    take_word(*uids);  // real
    status.effective_uid = not_negative(parse_int64(take_word(*uids)));
  }
  if (auto pids = find_line(text, "NSpid:")) {
    std::int32_t depth = 0;
    for (std::string_view word = take_word(*pids); !word.empty(); word = take_word(*pids)) {
      status.ns_pid = to_pid(parse_int64(word));
      ++depth;
    }
    if (depth > 0) status.namespace_depth = depth;
  }
  return status;
}

std::optional<std::string> join_arguments(std::string_view cmdline) {
  // Programs that rewrite their title leave zeros behind it.
  while (cmdline.ends_with('\0')) cmdline.remove_suffix(1);
  if (cmdline.empty()) return std::nullopt;
  std::string joined(cmdline);
  for (char& c : joined) {
    if (c == '\0') c = ' ';
  }
  return joined;
}

std::optional<std::int64_t> parse_namespace_link(std::string_view target) {
  const std::size_t open = target.find(":[");
  if (open == std::string_view::npos || !target.ends_with(']')) return std::nullopt;
  return not_negative(parse_int64(target.substr(open + 2, target.size() - open - 3)));
}

}  // namespace vramscope
