#include <limits>

#include "system/fields.h"
#include "system/kernel_log.h"

namespace vramscope {

namespace {

std::optional<std::int32_t> to_pid(std::optional<std::int64_t> value) {
  if (!value || *value <= 0 || *value > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  return static_cast<std::int32_t>(*value);
}

// The number after the last `key`: what a program's name might hold stands before the kernel's own words.
std::optional<std::int64_t> number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.rfind(key);
  return at == std::string_view::npos ? std::nullopt : parse_leading_int64(text.substr(at + key.size()));
}

std::optional<std::int64_t> bytes_after(std::string_view text, std::string_view key) {
  const auto kibibytes = number_after(text, key);
  return kibibytes && *kibibytes >= 0 ? product(*kibibytes, 1024) : std::nullopt;
}

// Linux 5.x and later:   Out of memory: Killed process 1 (name) total-vm:8kB, …, UID:0 …
// before it:             Killed process 1 (name) total-vm:8kB, anon-rss:…
// 4.4 to 4.19 of some:   Killed process 1 (name), UID 0, total-vm:8kB, …
// Red Hat's 3.10:        Killed process 1, UID 0, (name) total-vm:8kB, …
std::optional<OomKill> parse_oom_kill(std::string_view message) {
  constexpr std::string_view kKilled = "Killed process ";
  const std::size_t at = message.find(kKilled);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view before = message.substr(0, at);
  if (!before.empty() && !before.starts_with("Out of memory") && !before.starts_with("Memory cgroup out of memory")) {
    return std::nullopt;
  }
  std::string_view rest = message.substr(at + kKilled.size());
  const auto pid = to_pid(parse_leading_int64(rest));
  const std::size_t sizes = rest.rfind("total-vm:");
  if (!pid || sizes == std::string_view::npos) return std::nullopt;
  OomKill kill;
  kill.pid = *pid;
  kill.is_cgroup = before.starts_with("Memory cgroup");
  const std::string_view head = rest.substr(0, sizes);
  const std::size_t open = head.find('('), close = head.rfind(')');
  if (open != std::string_view::npos && close != std::string_view::npos && open < close) {
    kill.name = std::string(head.substr(open + 1, close - open - 1));
  }
  const std::string_view tail = rest.substr(sizes);
  kill.total_vm_bytes = bytes_after(tail, "total-vm:");
  kill.anon_rss_bytes = bytes_after(tail, "anon-rss:");
  kill.file_rss_bytes = bytes_after(tail, "file-rss:");
  kill.shmem_rss_bytes = bytes_after(tail, "shmem-rss:");
  kill.uid = number_after(tail, "UID:");
  if (!kill.uid) kill.uid = number_after(head, "UID ");
  return kill;
}

// "key=value" where value ends before the next of the kernel's keys; names and paths may hold commas.
std::optional<std::string> value_between(std::string_view text, std::string_view key, std::string_view next_key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + key.size());
  const std::size_t end = text.find(next_key);
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(text.substr(0, end));
}

std::optional<OomReason> parse_oom_reason(std::string_view message) {
  constexpr std::string_view kHead = "oom-kill:constraint=";
  if (!message.starts_with(kHead)) return std::nullopt;
  message.remove_prefix(kHead.size());
  const std::size_t uid_at = message.rfind(",uid=");
  const std::size_t pid_at = message.substr(0, uid_at).rfind(",pid=");
  if (uid_at == std::string_view::npos || pid_at == std::string_view::npos) return std::nullopt;
  const auto pid = to_pid(parse_leading_int64(message.substr(pid_at + 5)));
  const std::size_t task_at = message.substr(0, pid_at).find(",task=");
  if (!pid || task_at == std::string_view::npos) return std::nullopt;
  OomReason reason;
  reason.pid = *pid;
  reason.uid = parse_leading_int64(message.substr(uid_at + 5));
  reason.name = std::string(message.substr(task_at + 6, pid_at - task_at - 6));
  reason.constraint = std::string(message.substr(0, message.find(',')));
  reason.limit_cgroup = value_between(message, ",oom_memcg=", ",task_memcg=");
  reason.task_cgroup = value_between(message, ",task_memcg=", ",task=");
  return reason;
}

// Drivers before 390 write no pid, and before 300 no "PCI:".
std::optional<Xid> parse_xid(std::string_view message) {
  constexpr std::string_view kHead = "NVRM: Xid (";
  if (!message.starts_with(kHead)) return std::nullopt;
  message.remove_prefix(kHead.size());
  constexpr std::string_view kPci = "PCI:";
  if (message.starts_with(kPci)) message.remove_prefix(kPci.size());
  const std::size_t close = message.find("): ");
  if (close == std::string_view::npos) return std::nullopt;
  Xid xid;
  xid.pci = std::string(message.substr(0, close));
  message.remove_prefix(close + 3);
  const auto number = parse_leading_int64(message);
  if (!number || *number < 0) return std::nullopt;
  xid.number = *number;
  const auto take_field = [&message] {
    std::string_view field = take_until(message, ',');
    while (message.starts_with(' ')) message.remove_prefix(1);
    return field;
  };
  take_field();
  if (message.starts_with("pid=")) {
    std::string_view pid = take_field().substr(4);
    if (pid.starts_with('\'')) pid.remove_prefix(1);
    xid.pid = to_pid(parse_leading_int64(pid));  // '<unknown>' is none
  }
  if (message.starts_with("name=")) {
    const std::string_view name = take_field().substr(5);
    if (!name.empty() && name.find("<unknown>") == std::string_view::npos) xid.name = std::string(name);
  }
  xid.detail = std::string(message);
  return xid;
}

}  // namespace

std::optional<KernelMessage> parse_kernel_message(std::string_view message) {
  if (auto xid = parse_xid(message)) return KernelMessage(std::move(*xid));
  if (auto reason = parse_oom_reason(message)) return KernelMessage(std::move(*reason));
  if (auto kill = parse_oom_kill(message)) return KernelMessage(std::move(*kill));
  return std::nullopt;
}

}  // namespace vramscope
