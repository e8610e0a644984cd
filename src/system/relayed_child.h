#pragma once
// Starts a program, passes its output on untouched while it is looked at, and tells how it ended.
//
// The program stays in our session and our process group. Ctrl-C, Ctrl-\, Ctrl-Z and a hang-up of the terminal reach
// it from the kernel, as without us, and it may read the terminal; a group of its own would be a background job to the
// terminal. What somebody sends to us alone is passed on. None of these signals ends us: we wait for the program.
//
// Where our output is a terminal the program sees one too (a pseudo terminal that takes over settings and window size,
// and changes nothing in the bytes); else it gets a pipe. stdout and stderr that lead to the same place share one, so
// that their order is kept. stdin is ours. A full-screen program, which switches the terminal of its output to raw
// mode, switches the pseudo terminal: such programs are not for watching.
#include <poll.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "system/files.h"
#include "system/roots.h"

namespace vramscope {

class StreamRelay;

struct ProcessEnd {
  std::int32_t pid = 0;
  std::optional<int> exit_code;
  std::optional<int> signal;  // that killed it
  bool has_dumped_core = false;

  bool is_known() const { return exit_code || signal; }
  bool is_success() const { return exit_code == 0; }
  // As a shell tells it: 128 and the number of the signal. 1 when unknown.
  int shell_code() const { return exit_code ? *exit_code : signal ? 128 + *signal : 1; }
};

// 1: stdout, or both where they are one; 2: stderr. The bytes are about to be written and good during the call alone.
using LookAtOutput = std::function<void(int stream, std::string_view bytes)>;

struct RelayedChildOptions {
  std::vector<std::string> command;  // as for execvp(3); not empty
  LookAtOutput look;                 // may be empty
  Roots roots;
};

// Use: collect() into a list of descriptors, poll(2) with at most timeout_ms(), on_ready(), until is_over(). One at a
// time in a process, of one thread: it blocks the signals that it takes over (they stay blocked until it is destroyed)
// and makes this process the parent of what the program leaves behind. Other children of this process are left alone.
class RelayedChild {
 public:
  // The code of an error is the exit code that a shell would end with: 127 when there is no such program, else 126.
  static Result<std::unique_ptr<RelayedChild>> start(RelayedChildOptions options);
  // The signals that are taken over, for the calling thread and those that it starts. A program with further threads
  // calls it before it starts them: none of them may take such a signal.
  static void block_signals();
  ~RelayedChild();  // closes the streams; the program goes on if it still runs
  RelayedChild(const RelayedChild&) = delete;
  RelayedChild& operator=(const RelayedChild&) = delete;

  std::int32_t pid() const { return pid_; }

  void collect(std::vector<pollfd>& wanted) const;
  // Milliseconds after which on_ready() has something to do without a descriptor being ready; -1: never.
  int timeout_ms() const;
  // Passes on at most one buffer of each stream. Descriptors that are not ours are passed over. May stop this process,
  // when the terminal stops the job.
  void on_ready(std::span<const pollfd> ready);

  // How it ended; empty while it runs.
  const std::optional<ProcessEnd>& end() const { return end_; }
  // It has ended and its output is passed on. What it left running may still hold the streams: such output is looked at
  // for a moment, and then passed on by a process that stays until they are closed.
  bool is_over() const;
  // The last of SIGINT, SIGTERM, SIGHUP, SIGQUIT that came for it through us or from the terminal.
  std::optional<int> asked_to_end() const { return asked_to_end_; }

  // Processes that it started, directly or not, ascending, without itself; those that it left behind too, if an
  // earlier call saw them. Call it at each sample.
  std::vector<std::int32_t> follow();
  // How processes ended that it left behind; each is told once.
  std::vector<ProcessEnd> take_deaths() { return std::exchange(deaths_, {}); }

 private:
  RelayedChild() = default;
  void on_signal();
  void take_signal(int number, int code, std::int32_t sender);
  void pass_on(int number) const;
  void stop_with_job() const;
  void resize();
  void check_end();
  bool reap(std::int32_t pid);
  void check_drain();

  pid_t pid_ = -1;
  Roots roots_;
  LookAtOutput look_;
  Descriptor signals_;
  std::vector<std::unique_ptr<StreamRelay>> streams_;
  std::optional<ProcessEnd> end_;
  std::int64_t end_ns_ = 0;  // CLOCK_MONOTONIC
  std::optional<int> asked_to_end_;
  std::set<std::int32_t> seen_;  // of its tree
  std::vector<ProcessEnd> deaths_;
};

}  // namespace vramscope
