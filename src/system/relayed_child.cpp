#include "system/relayed_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "system/process_tree.h"
#include "system/stream_relay.h"
#include "text/catalogue.h"
#include "text/error_reason.h"

namespace vramscope {

namespace {

// Output of what the program left running is looked at until it pauses, and no longer than the second time.
constexpr std::int64_t kPauseNs = 200'000'000;
constexpr std::int64_t kLongestNs = 2'000'000'000;

constexpr int kTaken[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP, SIGWINCH, SIGCHLD};

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

sigset_t taken_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : kTaken) sigaddset(&set, number);
  return set;
}

Error start_error(const std::string& program, int reason) {
  const int code = reason == ENOENT ? 127 : 126;
  const char* text = tr("{program} cannot be started: {reason}. Check the name and that it may be executed.");
  if (reason == ENOENT) text = tr("There is no program {program}: check the name, and PATH where it is a bare name.");
  return {static_cast<ExitCode>(code),
          fmt::format(fmt::runtime(text), fmt::arg("program", program), fmt::arg("reason", error_reason(reason)))};
}

// In the new process, between fork and exec: calls that are safe there alone (signal-safety(7)).
[[noreturn]] void become(char* const* arguments, const ChildStreams& streams, int report) {
  for (int number = 1; number <= 2; ++number) {
    const int from = streams.descriptor_of[number - 1];
    if (from >= 0) dup2(from, number);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execvp(arguments[0], arguments);
  const int reason = errno;
  while (write(report, &reason, sizeof reason) < 0 && errno == EINTR) {
  }
  _exit(127);
}

// The errno of an exec that failed; 0 when it did not.
int failed_exec(int from) {
  int reason = 0;
  ssize_t count = 0;
  do {
    count = read(from, &reason, sizeof reason);
  } while (count < 0 && errno == EINTR);
  return count == static_cast<ssize_t>(sizeof reason) ? reason : 0;
}

bool wait_for(std::int32_t pid, int options, siginfo_t& info) {
  info.si_pid = 0;
  return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | options) == 0;
}

ProcessEnd end_of(const siginfo_t& info) {
  ProcessEnd end;
  end.pid = info.si_pid;
  if (info.si_code == CLD_EXITED) {
    end.exit_code = info.si_status;
  } else {
    end.signal = info.si_status;
    end.has_dumped_core = info.si_code == CLD_DUMPED;
  }
  return end;
}

}  // namespace

Result<std::unique_ptr<RelayedChild>> RelayedChild::start(RelayedChildOptions options) {
  if (options.command.empty()) return start_error("\"\"", ENOENT);
  auto streams = open_child_streams();
  if (!streams) return streams.error();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return start_error(options.command[0], errno);
  const Descriptor report_from(ends[0]);
  Descriptor report_to(fcntl(ends[1], F_DUPFD_CLOEXEC, 3));  // 1 and 2 are about to become something else
  close(ends[1]);
  std::vector<char*> arguments;
  for (std::string& argument : options.command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);

  std::unique_ptr<RelayedChild> child(new RelayedChild);
  child->roots_ = options.roots;
  child->look_ = std::move(options.look);
  child->streams_ = std::move(streams->relays);
  const sigset_t taken = taken_signals();
  block_signals();
  child->signals_ = Descriptor(fcntl(Descriptor(signalfd(-1, &taken, SFD_CLOEXEC)).get(), F_DUPFD_CLOEXEC, 3));
  fcntl(child->signals_.get(), F_SETFL, O_NONBLOCK);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t pid = fork();
  if (pid < 0) return start_error(options.command[0], errno);
  if (pid == 0) become(arguments.data(), *streams, report_to.get());
  child->pid_ = pid;
  // A reader that goes away is told by the error of a write. The program keeps what we were started with.
  signal(SIGPIPE, SIG_IGN);
  report_to.reset();
  if (const int reason = failed_exec(report_from.get())) {
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED);
    return start_error(options.command[0], reason);
  }
  return child;
}

void RelayedChild::block_signals() {
  const sigset_t taken = taken_signals();
  sigprocmask(SIG_BLOCK, &taken, nullptr);
}

RelayedChild::~RelayedChild() {
  const sigset_t taken = taken_signals();
  sigprocmask(SIG_UNBLOCK, &taken, nullptr);
}

void RelayedChild::collect(std::vector<pollfd>& wanted) const {
  wanted.push_back({signals_.get(), POLLIN, 0});
  for (const auto& stream : streams_) stream->collect(wanted);
}

int RelayedChild::timeout_ms() const {
  constexpr int kStep = 20;
  return end_ && !is_over() ? kStep : -1;
}

bool RelayedChild::is_over() const {
  return end_ && std::all_of(streams_.begin(), streams_.end(), [](const auto& stream) { return stream->is_over(); });
}

void RelayedChild::on_ready(std::span<const pollfd> ready) {
  for (const pollfd& each : ready) {
    if (each.revents == 0) continue;
    if (each.fd == signals_.get()) {
      on_signal();
    } else {
      for (const auto& stream : streams_) stream->on_ready(each, look_);
    }
  }
  if (end_) check_drain();
}

void RelayedChild::on_signal() {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    take_signal(static_cast<int>(info.ssi_signo), info.ssi_code, static_cast<std::int32_t>(info.ssi_pid));
  }
}

void RelayedChild::take_signal(int number, int code, std::int32_t sender) {
  if (number == SIGCHLD) return check_end();
  if (number == SIGWINCH) return resize();
  if (number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT) asked_to_end_ = number;
  // The terminal sends to the whole group. A script that signals its own group (kill 0) has reached itself.
  const bool is_from_terminal = code == SI_KERNEL && !end_ && getpgid(pid_) == getpgrp();
  const bool is_from_program = code != SI_KERNEL && (sender == pid_ || seen_.count(sender) != 0);
  if (!is_from_terminal && !is_from_program) pass_on(number);
  if (number == SIGTSTP) stop_with_job();
}

void RelayedChild::pass_on(int number) const {
  if (!end_) kill(pid_, number);  // not waited for yet: the pid is still its own
}

// As the terminal's other processes do: the shell sees the job stopped and gives the prompt. Goes on with SIGCONT.
void RelayedChild::stop_with_job() const {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  raise(SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &stop, nullptr);
  sigprocmask(SIG_BLOCK, &stop, nullptr);
}

void RelayedChild::resize() {
  bool has_changed = false;
  for (const auto& stream : streams_) has_changed = stream->resize() || has_changed;
  // The kernel has told the program before its terminal had the new size.
  if (has_changed) pass_on(SIGWINCH);
}

bool RelayedChild::reap(std::int32_t pid) {
  siginfo_t info;
  if (!wait_for(pid, 0, info) || info.si_pid == 0) return false;
  deaths_.push_back(end_of(info));
  return true;
}

void RelayedChild::check_end() {
  siginfo_t info;
  if (!end_ && wait_for(pid_, 0, info) && info.si_pid != 0) {
    end_ = end_of(info);
    end_ns_ = now_ns();
    for (const auto& stream : streams_) stream->mark_end();
  }
  // Those that became ours. Only by name: this process may have other children, whom others wait for.
  for (auto pid = seen_.begin(); pid != seen_.end();) pid = reap(*pid) ? seen_.erase(pid) : std::next(pid);
}

void RelayedChild::check_drain() {
  const std::int64_t now = now_ns();
  for (const auto& stream : streams_) {
    if (stream->is_over() || stream->owes()) continue;
    if (now - stream->last_read_ns() >= kPauseNs || now - end_ns_ >= kLongestNs) stream->leave_behind();
  }
}

std::vector<std::int32_t> RelayedChild::follow() {
  std::set<std::int32_t> tree;
  if (!end_) {
    for (const std::int32_t pid : descendants(roots_, pid_)) tree.insert(pid);
  }
  for (const std::int32_t pid : seen_) {
    siginfo_t info;
    if (tree.count(pid) != 0 || !wait_for(pid, WNOWAIT, info)) continue;  // the latter: gone, or a stranger by now
    if (info.si_pid != 0) {
      reap(pid);
      continue;
    }
    tree.insert(pid);
    for (const std::int32_t below : descendants(roots_, pid)) tree.insert(below);
  }
  seen_ = tree;
  return {tree.begin(), tree.end()};
}

}  // namespace vramscope
