#include "system/send_signal.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "fmt/format.h"
#include "system/files.h"
#include "system/signal_name.h"
#include "text/catalogue.h"
#include "text/error_reason.h"

namespace vramscope {

namespace {

#ifdef SYS_pidfd_open
int open_process(std::int32_t pid) {
  return static_cast<int>(syscall(SYS_pidfd_open, pid, 0U));
}
#else
int open_process(std::int32_t) {
  return -1;
}
#endif

int signal_process(const Descriptor& process, std::int32_t pid, int number) {
#ifdef SYS_pidfd_send_signal
  if (process) return static_cast<int>(syscall(SYS_pidfd_send_signal, process.get(), number, nullptr, 0U));
#endif
  (void)process;
  return kill(pid, number);
}

Error has_ended(std::int32_t pid) {
  return {ExitCode::machine,
          fmt::format(fmt::runtime(tr("Process {pid} has ended; no signal was sent.")), fmt::arg("pid", pid))};
}

}  // namespace

std::optional<Error> send_signal(const ProcessKey& key, int number, const Roots& roots) {
  // Opened before the start time is read: what was read is then of the process that is opened.
  const Descriptor process(open_process(key.pid));
  const auto text = read_file(roots.proc + "/" + std::to_string(key.pid) + "/stat");
  const auto stat = text ? parse_process_stat(*text) : std::nullopt;
  if (!stat || key.pid <= 0) return has_ended(key.pid);
  if (stat->start_ticks != key.start_ticks) {
    return Error{ExitCode::machine,
                 fmt::format(fmt::runtime(tr("Another process has the pid {pid} by now; no signal was sent.")),
                             fmt::arg("pid", key.pid))};
  }
  if (signal_process(process, key.pid, number) == 0) return std::nullopt;
  const int code = errno;
  if (code == ESRCH) return has_ended(key.pid);
  return Error{ExitCode::machine,
               fmt::format(fmt::runtime(tr("{signal} could not be sent to process {pid}: {reason}.")),
                           fmt::arg("signal", signal_name(number)), fmt::arg("pid", key.pid),
                           fmt::arg("reason", error_reason(code)))};
}

}  // namespace vramscope
