#pragma once
// A program that we start, with our own input, output and terminal: it sees what it would see without us.
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "system/files.h"

namespace vramscope {

struct ChildEnd {
  int exit_code = 0;
  int signal = 0;  // that killed it; 0: it ended by itself
  // As a shell tells it: 128 and the signal's number for a killed one.
  int shell_code() const { return signal != 0 ? 128 + signal : exit_code; }
};

// For one thread at a time. Not ended by our own end.
class Child {
 public:
  // In our process group, so that Ctrl-C reaches it as it would without us; with no signal blocked or ignored. An Error
  // with the shell's code 127 (not found) or 126 (cannot be run) in `exit_code` when it cannot be started.
  static Result<Child> start(const std::vector<std::string>& command, int& exit_code);

  pid_t pid() const { return pid_; }
  // Becomes readable when it ends; -1 on kernels before 5.3.
  int descriptor() const { return pidfd_.get(); }
  // How it ended, once it has.
  std::optional<ChildEnd> poll_end();
  void send(int signal);

 private:
  explicit Child(pid_t pid);

  pid_t pid_;
  Descriptor pidfd_;
  std::optional<ChildEnd> end_;
};

}  // namespace vramscope
