#pragma once
// Where smi's output goes, and how its loops wait.
#include <cstdint>
#include <cstdio>
#include <string>

#include "base/result.h"

namespace vramscope {

// A file, or stdout; every write is passed on at once, since readers wait for it.
class SmiOutput {
 public:
  SmiOutput() = default;
  ~SmiOutput();
  SmiOutput(const SmiOutput&) = delete;
  SmiOutput& operator=(const SmiOutput&) = delete;

  // False, with errno, when the file cannot be written.
  bool open(const std::string& path);
  // False when nothing more can be written: the reader has gone, or the disk is full.
  bool write(const std::string& text);
  // After a write that failed: the reader has gone, which is how a pipe ends.
  bool is_closed() const { return is_closed_; }

 private:
  std::FILE* file_ = stdout;
  bool is_closed_ = false;
};

// Ctrl-C and a polite kill end the waiting below, and are no failure.
void end_smi_loops_on_signals();
// The signal that came, 0 while none has. From any thread.
int smi_end_signal();
// Waits until `due_ns` on the monotonic clock; false when a signal ended it.
bool wait_for_smi(std::int64_t due_ns);
std::int64_t smi_monotonic_ns();
std::int64_t smi_unix_ns();

}  // namespace vramscope
