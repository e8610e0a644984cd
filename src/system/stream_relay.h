#pragma once
// Passes the output of a program on, byte for byte, and never waits for who reads it.
#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "system/files.h"
#include "system/relayed_child.h"

namespace vramscope {

// One descriptor of ours that output is passed on to.
class OutputTarget {
 public:
  explicit OutputTarget(int number);
  // Bytes that were taken; 0 when it is full for now; -1 when nobody reads it any more.
  std::ptrdiff_t write(std::string_view bytes) const;
  int descriptor() const { return own_ ? own_.get() : number_; }

 private:
  enum class Kind { waits, never_waits, socket };
  int number_;
  Kind kind_ = Kind::never_waits;
  // The same pipe or terminal opened once more: waiting can be switched off there without doing so for all the
  // processes that share the descriptor with us.
  Descriptor own_;
};

class StreamRelay {
 public:
  // `source` gives no data without waiting (O_NONBLOCK). `number`: 1 or 2, of our own descriptor.
  StreamRelay(Descriptor source, int number, bool is_terminal);

  void collect(std::vector<pollfd>& wanted) const;
  // Moves at most one buffer.
  void on_ready(const pollfd& ready, const LookAtOutput& look);
  bool is_over() const { return !source_ && pending_.empty(); }

  // The program has ended: what is on its way now is still passed on whatever the time; then, to be cut, see is_idle().
  void mark_end();
  bool owes() const { return owed_ > 0 || !pending_.empty(); }
  std::int64_t last_read_ns() const { return last_read_ns_; }
  // What comes from now on is passed on by a process of its own, until nobody writes any more: who was left running
  // would die of a closed pipe, or miss its terminal.
  void leave_behind();

  bool is_terminal() const { return is_terminal_; }
  // Gives the pseudo terminal the size of the window; true when that changed it.
  bool resize() const;

 private:
  void flush();

  Descriptor source_;
  OutputTarget target_;
  int number_;
  bool is_terminal_;
  std::vector<char> buffer_;
  std::string_view pending_;  // read and not yet written; in buffer_
  std::int64_t owed_ = 0;
  std::int64_t last_read_ns_ = 0;
};

// Where a program's stdout and stderr go.
struct ChildStreams {
  std::vector<std::unique_ptr<StreamRelay>> relays;
  Descriptor ends[2];               // the program's ends for 1 and 2; one that is shared stands in the first
  int descriptor_of[2] = {-1, -1};  // what becomes 1 and 2; -1: closed for us, so for the program
};
Result<ChildStreams> open_child_streams();

}  // namespace vramscope
