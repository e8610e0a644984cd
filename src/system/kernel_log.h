#pragma once
// What the kernel's log tells about killed processes and failing GPUs.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "system/files.h"

namespace vramscope {

// "Out of memory: Killed process 123 (python) total-vm:…" and its older forms.
struct OomKill {
  std::int32_t pid = 0;  // of the machine's first pid namespace
  std::string name;
  bool is_cgroup = false;  // the limit of a cgroup, not the machine's memory
  std::optional<std::int64_t> total_vm_bytes;
  std::optional<std::int64_t> anon_rss_bytes;
  std::optional<std::int64_t> file_rss_bytes;
  std::optional<std::int64_t> shmem_rss_bytes;
  std::optional<std::int64_t> uid;
};

// "oom-kill:constraint=CONSTRAINT_MEMCG,…": stands before the line of the kill, since Linux 4.19.
struct OomReason {
  std::string constraint;                   // CONSTRAINT_NONE, _MEMCG, _CPUSET, _MEMORY_POLICY
  std::optional<std::string> limit_cgroup;  // whose limit it was
  std::optional<std::string> task_cgroup;   // of the killed process
  std::string name;
  std::int32_t pid = 0;
  std::optional<std::int64_t> uid;
};

// "NVRM: Xid (PCI:0000:3b:00): 79, pid=123, name=python, GPU has fallen off the bus."
struct Xid {
  std::string pci;  // "0000:3b:00", as the driver writes it
  std::int64_t number = 0;
  std::optional<std::int32_t> pid;
  std::optional<std::string> name;
  std::string detail;
};

using KernelMessage = std::variant<OomKill, OomReason, Xid>;

// The message of one record, without time and facility. Nothing for all other messages.
std::optional<KernelMessage> parse_kernel_message(std::string_view message);

struct KernelEvent {
  std::int64_t time_ns =
      0;  // unix; the log's clock stands still while the machine sleeps and may drift by seconds a day
  KernelMessage message;
  std::string text;  // the message as it stood, for the evidence
};

// One record of /dev/kmsg: "6,339,5140900,-;message".
struct KmsgRecord {
  std::int64_t facility = 0;  // 0: the kernel; others are written by programs
  std::int64_t sequence = 0;
  std::int64_t time_us = 0;  // since boot
  std::string message;       // escapes (\x0a) undone, continuation lines left out
};
std::optional<KmsgRecord> parse_kmsg_record(std::string_view record);

// Lines as dmesg prints them, "[12345.678901] message", syslog's words before them allowed. Lines without such a time
// are left out. `boot_time_ns`: unix time of the log's zero.
std::vector<KernelEvent> parse_kernel_lines(std::string_view text, std::int64_t boot_time_ns);

// Follows /dev/kmsg without waiting. For one thread at a time.
class KernelLog {
 public:
  // Events at or after `since_ns` (unix), as far back as the kernel's buffer goes; without it, from now on.
  // Fails when the log is not there or not for us to read, as in most containers.
  static Result<KernelLog> open(std::optional<std::int64_t> since_ns, const std::string& path = "/dev/kmsg");

  // Over a descriptor that gives one record a read.
  KernelLog(Descriptor file, std::int64_t since_ns) : file_(std::move(file)), since_ns_(since_ns) {}

  // What came since the last call, at most kRecordsAPoll records read; call again when it returns events.
  std::vector<KernelEvent> poll();

  // Times that the kernel overwrote records before they were read.
  std::int64_t overrun_count() const { return overruns_; }

 private:
  static constexpr int kRecordsAPoll = 1 << 17;
  Descriptor file_;
  std::int64_t since_ns_ = 0;
  std::int64_t overruns_ = 0;
};

}  // namespace vramscope
