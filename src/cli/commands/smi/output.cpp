#include "cli/commands/smi/output.h"

#include <time.h>

#include <atomic>
#include <cerrno>
#include <csignal>

namespace vramscope {

namespace {

std::atomic<int> end_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);  // a handler stores it

void interrupt(int number) {
  end_signal = number;
}

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t now_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * kSecond + now.tv_nsec;
}

}  // namespace

SmiOutput::~SmiOutput() {
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
}

bool SmiOutput::open(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return false;
  file_ = file;
  return true;
}

bool SmiOutput::write(const std::string& text) {
  std::signal(SIGPIPE, SIG_IGN);
  if (std::fwrite(text.data(), 1, text.size(), file_) == text.size() && std::fflush(file_) == 0) return true;
  is_closed_ = errno == EPIPE;
  return false;
}

void end_smi_loops_on_signals() {
  struct sigaction action {};
  action.sa_handler = interrupt;  // without SA_RESTART: waiting ends
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int smi_end_signal() {
  return end_signal;
}

// A signal that arrives between the look at the flag and the sleep would be slept through: never more than so long.
bool wait_for_smi(std::int64_t due_ns) {
  constexpr std::int64_t kSlice = kSecond / 5;
  while (end_signal == 0) {
    const std::int64_t now = smi_monotonic_ns();
    if (now >= due_ns) return true;
    const std::int64_t until = due_ns - now > kSlice ? now + kSlice : due_ns;
    const timespec time{static_cast<time_t>(until / kSecond), static_cast<long>(until % kSecond)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
  }
  return false;
}

std::int64_t smi_monotonic_ns() {
  return now_ns(CLOCK_MONOTONIC);
}

std::int64_t smi_unix_ns() {
  return now_ns(CLOCK_REALTIME);
}

}  // namespace vramscope
