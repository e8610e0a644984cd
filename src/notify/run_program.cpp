#include "notify/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <thread>

#include "fmt/format.h"
#include "text/catalogue.h"
#include "text/error_reason.h"
#include "text/utf8.h"

extern char** environ;

namespace vramscope {

namespace {

constexpr std::size_t kMostKept = 64 * 1024;

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  void reset(int number = -1) {
    if (number_ >= 0) close(number_);
    number_ = number;
  }

 private:
  int number_;
};

// A file in memory, not a pipe: a program that reads none of it cannot hold us up, nor end us by SIGPIPE.
bool fill_input(Descriptor& input, const std::string& text) {
  input.reset(memfd_create("vramscope-notice", MFD_CLOEXEC));
  if (input.get() < 0) return false;
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = write(input.get(), text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    written += static_cast<std::size_t>(count);
  }
  return lseek(input.get(), 0, SEEK_SET) == 0;
}

bool open_pipe(Descriptor& from, Descriptor& to) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  from.reset(ends[0]);
  to.reset(ends[1]);
  return fcntl(from.get(), F_SETFL, O_NONBLOCK) == 0;
}

int spawn(const ProgramRun& run, int input, int output, int error, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  if (output >= 0) {
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, error, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> arguments, variables;
  for (const std::string& argument : run.arguments) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::vector<std::string> own;
  for (const auto& [name, value] : run.environment) own.push_back(name + '=' + value);
  for (std::string& variable : own) variables.push_back(variable.data());
  for (char** variable = environ; *variable != nullptr; ++variable) variables.push_back(*variable);
  variables.push_back(nullptr);
  const int failed = posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return failed;
}

// Takes what is there now. False at its end.
bool drain(int from, std::string& text, bool keep_end) {
  constexpr int kMostReads = 64;  // then the time is looked at
  char buffer[4096];
  for (int i = 0; i < kMostReads; ++i) {
    const ssize_t count = read(from, buffer, sizeof buffer);
    if (count == 0) return false;
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.size() <= kMostKept) continue;
    if (keep_end) {
      text.erase(0, text.size() - kMostKept);
    } else {
      text.resize(kMostKept);
    }
  }
  return true;
}

std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  const std::size_t before = text.rfind('\n');
  if (before != text.npos) text.remove_prefix(before + 1);
  constexpr std::size_t kColumns = 200;
  return elide_end(printable(text), kColumns);
}

void set_end(int status, ProgramEnd& end) {
  end.how = WIFSIGNALED(status) ? ProgramEnd::How::signalled : ProgramEnd::How::exited;
  end.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

ProgramEnd run_program(const ProgramRun& run, const Deadline& deadline_ns) {
  ProgramEnd end;
  Descriptor input, output, output_to, error, error_to;
  if (!fill_input(input, run.input) || !open_pipe(error, error_to) ||
      (run.wants_output && !open_pipe(output, output_to))) {
    end.how = ProgramEnd::How::not_started;
    end.code = errno;
    return end;
  }
  pid_t pid = 0;
  const int failed = spawn(run, input.get(), output_to.get(), error_to.get(), pid);
  output_to.reset();
  error_to.reset();
  if (failed != 0) {
    end.how = ProgramEnd::How::not_started;
    end.code = failed;
    return end;
  }
  const std::int64_t limit_ns =
      steady_now_ns() + std::chrono::duration_cast<std::chrono::nanoseconds>(run.timeout).count();
  std::string errors;
  bool is_killed = false;
  while (true) {
    constexpr int kPollMs = 20;
    pollfd waiting[2] = {{error.get(), POLLIN, 0}, {output.get(), POLLIN, 0}};
    poll(waiting, 2, kPollMs);
    if (error.get() >= 0 && !drain(error.get(), errors, true)) error.reset();
    if (output.get() >= 0 && !drain(output.get(), end.output, false)) output.reset();
    int status = 0;
    const pid_t waited = waitpid(pid, &status, WNOHANG);
    if (waited == pid) set_end(status, end);
    if (waited == pid || (waited < 0 && errno != EINTR)) break;
    if (is_killed || steady_now_ns() <= std::min(limit_ns, deadline_ns.load())) continue;
    kill(-pid, SIGKILL);
    is_killed = true;
  }
  if (error.get() >= 0) drain(error.get(), errors, true);
  if (output.get() >= 0) drain(output.get(), end.output, false);
  if (is_killed) end.how = ProgramEnd::How::timed_out;
  end.last_error = last_line(errors);
  return end;
}

std::optional<DeliveryProblem> program_problem(const ProgramEnd& end) {
  std::string what;
  switch (end.how) {
    case ProgramEnd::How::unknown:  // somebody else took its status
      return std::nullopt;
    case ProgramEnd::How::exited:
      if (end.code == 0) return std::nullopt;
      what = fmt::format(fmt::runtime(tr("it ended with exit status {code}")), fmt::arg("code", end.code));
      break;
    case ProgramEnd::How::signalled:
      what = fmt::format(fmt::runtime(tr("it was ended by signal {code}")), fmt::arg("code", end.code));
      break;
    case ProgramEnd::How::timed_out:
      what = tr("it did not end in time and was killed");
      break;
    case ProgramEnd::How::not_started:
      what = fmt::format(fmt::runtime(tr("it could not be started ({reason})")),
                         fmt::arg("reason", error_reason(end.code)));
      break;
  }
  if (!end.last_error.empty()) what += ": " + end.last_error;
  return DeliveryProblem{what, false};
}

bool is_program_there(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    if (access((std::string(rest.substr(0, colon)) + '/' + name).c_str(), X_OK) == 0) return true;
    rest = colon == rest.npos ? std::string_view() : rest.substr(colon + 1);
  }
  return false;
}

}  // namespace vramscope
