#include "system/child.h"

#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "fmt/format.h"
#include "text/catalogue.h"
#include "text/error_reason.h"
#include "text/utf8.h"
#include "text/width.h"

extern char** environ;

namespace vramscope {

Child::Child(pid_t pid) : pid_(pid) {
#ifdef SYS_pidfd_open
  pidfd_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
#endif
}

Result<Child> Child::start(const std::vector<std::string>& command, int& exit_code) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  sigset_t to_default;
  sigfillset(&to_default);
  posix_spawnattr_setsigdefault(&attributes, &to_default);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, arguments[0], nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    exit_code = error == ENOENT ? 127 : 126;
    return Error{
        ExitCode::machine,
        fmt::format(fmt::runtime(tr("{program} cannot be started ({reason}); check its name and that it may be "
                                    "run.")),
                    fmt::arg("program", printable(command[0])), fmt::arg("reason", error_reason(error)))};
  }
  return Child(pid);
}

std::optional<ChildEnd> Child::poll_end() {
  if (end_) return end_;
  int status = 0;
  pid_t got = 0;
  do {
    got = waitpid(pid_, &status, WNOHANG);
  } while (got < 0 && errno == EINTR);
  if (got != pid_) return std::nullopt;
  ChildEnd end;
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
  } else {
    end.exit_code = WEXITSTATUS(status);
  }
  end_ = end;
  return end_;
}

void Child::send(int signal) {
  if (!end_) kill(pid_, signal);
}

}  // namespace vramscope
