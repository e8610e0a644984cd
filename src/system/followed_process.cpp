#include "system/followed_process.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "fmt/format.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

std::optional<std::string> stat_text(const Roots& roots, std::int32_t pid) {
  return read_file(roots.proc + "/" + std::to_string(pid) + "/stat");
}

bool is_dead(const ProcessStat& stat) {
  return stat.state == 'Z' || stat.state == 'X' || stat.state == 'x';
}

}  // namespace

Result<FollowedProcess> FollowedProcess::open(std::int32_t pid, Roots roots) {
  FollowedProcess process;
  // The descriptor first: what it is of cannot change between the two, and a process that ended is seen as such.
#ifdef SYS_pidfd_open
  process.pidfd_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
#endif
  const auto text = stat_text(roots, pid);
  const auto stat = text ? parse_process_stat(*text) : std::nullopt;
  if (!stat || is_dead(*stat)) {
    return Error{ExitCode::machine,
                 fmt::format(fmt::runtime(tr("There is no process {pid} here; `vramscope status` lists those that use "
                                             "a GPU.")),
                             fmt::arg("pid", pid))};
  }
  process.key_ = {pid, stat->start_ticks};
  process.name_ = std::string(stat->name);
  process.roots_ = std::move(roots);
  return process;
}

bool FollowedProcess::has_ended() const {
  if (pidfd_) {
    pollfd ready{pidfd_.get(), POLLIN, 0};
    if (poll(&ready, 1, 0) > 0) return true;
  }
  const auto text = stat_text(roots_, key_.pid);
  const auto stat = text ? parse_process_stat(*text) : std::nullopt;
  return !stat || is_dead(*stat) || stat->start_ticks != key_.start_ticks;
}

}  // namespace vramscope
