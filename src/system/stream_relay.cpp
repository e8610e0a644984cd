#include "system/stream_relay.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "fmt/format.h"
#include "text/catalogue.h"
#include "text/error_reason.h"

namespace vramscope {

namespace {

constexpr std::size_t kBufferBytes = 256 * 1024;
constexpr int kPipeBytes = 1 << 20;
// A pipe that is ready for writing takes this much without waiting (pipe(7)).
constexpr std::size_t kSafeWrite = 4096;

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

// Not 0, 1 or 2, which may be free where we were started with them closed.
Descriptor above_standard(int fd) {
  if (fd < 0 || fd > 2) return Descriptor(fd);
  const Descriptor low(fd);
  return Descriptor(fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

Error no_stream() {
  return {ExitCode::machine,
          fmt::format(fmt::runtime(tr("The program cannot be started: no pipe or terminal for its output ({reason}).")),
                      fmt::arg("reason", error_reason(errno)))};
}

bool open_pipe(Descriptor& source, Descriptor& end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  source = above_standard(ends[0]);
  end = above_standard(ends[1]);
  fcntl(end.get(), F_SETPIPE_SZ, kPipeBytes);  // refused at the user's limit of pipe memory: it stays smaller then
  return source && end;
}

// A pseudo terminal that behaves as the terminal `like`, but leaves the bytes as they are: that terminal will do what
// is to be done with them (a carriage return before each line feed), once.
bool open_terminal(int like, Descriptor& source, Descriptor& end) {
  source = above_standard(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  char name[128];
  if (!source || grantpt(source.get()) != 0 || unlockpt(source.get()) != 0) return false;
  if (ptsname_r(source.get(), name, sizeof name) != 0) return false;
  end = above_standard(open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!end) return false;
  termios settings{};
  if (tcgetattr(like, &settings) == 0) {
    settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);
    tcsetattr(end.get(), TCSANOW, &settings);
  }
  return true;
}

bool is_same_file(int a, int b) {
  struct stat first {
  }, second{};
  if (fstat(a, &first) != 0 || fstat(b, &second) != 0) return false;
  return first.st_dev == second.st_dev && first.st_ino == second.st_ino && first.st_rdev == second.st_rdev;
}

// In a process of its own, which a program with threads has forked: calls that are safe there alone
// (signal-safety(7)). Holds nothing else open, so that nobody waits for it but who reads the output.
[[noreturn]] void pass_on_alone(int from, int to) {
  static char buffer[65536];
  if (from != 3 && dup2(from, 3) == 3) from = 3;
  if (from == 3) syscall(SYS_close_range, 4U, ~0U, 0U);  // since Linux 5.9; before, they stay open
  close(0);
  if (to != 1) close(1);
  if (to != 2) close(2);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  while (true) {
    pollfd ready{from, POLLIN, 0};
    if (poll(&ready, 1, -1) < 0 && errno != EINTR) break;
    const ssize_t count = read(from, buffer, sizeof buffer);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) break;
    for (ssize_t done = 0; done < count;) {
      const ssize_t written = write(to, buffer + done, static_cast<std::size_t>(count - done));
      if (written > 0) done += written;
      if (written >= 0 || errno == EINTR) continue;
      if (errno != EAGAIN) _exit(0);
      pollfd room{to, POLLOUT, 0};
      poll(&room, 1, -1);
    }
  }
  _exit(0);
}

}  // namespace

OutputTarget::OutputTarget(int number) : number_(number) {
  struct stat facts {};
  if (fstat(number, &facts) != 0) return;
  if (S_ISSOCK(facts.st_mode)) kind_ = Kind::socket;
  if (!S_ISFIFO(facts.st_mode) && !S_ISCHR(facts.st_mode)) return;
  const std::string path = "/proc/self/fd/" + std::to_string(number);
  own_ = above_standard(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  // Without it (a terminal that belongs to somebody else) each write is as small as it must be not to wait.
  if (!own_) kind_ = Kind::waits;
}

std::ptrdiff_t OutputTarget::write(std::string_view bytes) const {
  if (kind_ == Kind::waits) {
    pollfd ready{number_, POLLOUT, 0};
    if (poll(&ready, 1, 0) <= 0) return 0;
    bytes = bytes.substr(0, kSafeWrite);
  }
  const ssize_t count = kind_ == Kind::socket ? send(number_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                                              : ::write(descriptor(), bytes.data(), bytes.size());
  if (count >= 0) return count;
  return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ? 0 : -1;
}

StreamRelay::StreamRelay(Descriptor source, int number, bool is_terminal)
    : source_(std::move(source)), target_(number), number_(number), is_terminal_(is_terminal) {
  fcntl(source_.get(), F_SETFL, fcntl(source_.get(), F_GETFL) | O_NONBLOCK);
  buffer_.resize(kBufferBytes);
}

void StreamRelay::collect(std::vector<pollfd>& wanted) const {
  // Nothing more is read while something waits: the program then waits in its turn, as it would without us.
  if (!pending_.empty()) {
    wanted.push_back({target_.descriptor(), POLLOUT, 0});
  } else if (source_) {
    wanted.push_back({source_.get(), POLLIN, 0});
  }
}

void StreamRelay::flush() {
  while (!pending_.empty()) {
    const std::ptrdiff_t count = target_.write(pending_);
    if (count == 0) return;
    if (count < 0) {
      // The program learns it by SIGPIPE when it writes on, as without us.
      pending_ = {};
      owed_ = 0;
      source_.reset();
      return;
    }
    pending_.remove_prefix(static_cast<std::size_t>(count));
  }
}

void StreamRelay::on_ready(const pollfd& ready, const LookAtOutput& look) {
  if (ready.revents == 0) return;
  if (!pending_.empty()) {
    if (ready.fd == target_.descriptor()) flush();
    return;
  }
  if (!source_ || ready.fd != source_.get()) return;
  const ssize_t count = read(source_.get(), buffer_.data(), buffer_.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {  // of a pseudo terminal that nobody holds any more: EIO
    owed_ = 0;
    source_.reset();
    return;
  }
  owed_ = std::max<std::int64_t>(owed_ - count, 0);
  last_read_ns_ = now_ns();
  pending_ = {buffer_.data(), static_cast<std::size_t>(count)};
  if (look) look(number_, pending_);
  flush();
}

void StreamRelay::mark_end() {
  int waiting = 0;
  if (source_ && ioctl(source_.get(), FIONREAD, &waiting) == 0) owed_ = waiting;
  last_read_ns_ = now_ns();
}

void StreamRelay::leave_behind() {
  if (source_ && pending_.empty() && fork() == 0) pass_on_alone(source_.get(), number_);
  source_.reset();
}

bool StreamRelay::resize() const {
  if (!is_terminal_ || !source_) return false;
  winsize size{}, before{};
  if (ioctl(number_, TIOCGWINSZ, &size) != 0) return false;
  const bool is_known = ioctl(source_.get(), TIOCGWINSZ, &before) == 0;
  if (is_known && size.ws_row == before.ws_row && size.ws_col == before.ws_col && size.ws_xpixel == before.ws_xpixel &&
      size.ws_ypixel == before.ws_ypixel) {
    return false;
  }
  return ioctl(source_.get(), TIOCSWINSZ, &size) == 0;
}

Result<ChildStreams> open_child_streams() {
  ChildStreams streams;
  for (int number = 1; number <= 2; ++number) {
    const std::size_t place = static_cast<std::size_t>(number) - 1;
    if (fcntl(number, F_GETFD) < 0) continue;
    if (number == 2 && streams.descriptor_of[0] >= 0 && is_same_file(1, 2)) {
      streams.descriptor_of[1] = streams.descriptor_of[0];
      continue;
    }
    Descriptor source;
    Descriptor& end = streams.ends[place];
    bool is_terminal = isatty(number) == 1;
    // Without a pseudo terminal (none mounted, or all in use) a pipe is better than nothing.
    if (is_terminal) is_terminal = open_terminal(number, source, end);
    if (!is_terminal && !open_pipe(source, end)) return no_stream();
    streams.descriptor_of[place] = end.get();
    streams.relays.push_back(std::make_unique<StreamRelay>(std::move(source), number, is_terminal));
    streams.relays.back()->resize();
  }
  return streams;
}

}  // namespace vramscope
