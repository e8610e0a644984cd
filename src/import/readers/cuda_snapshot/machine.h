#pragma once
// Runs the opcodes of a pickle that build plain data, and none that does anything else: no class is looked up, no
// function called. Names, numbers and protocols as in CPython's Lib/pickletools.py, protocols 0 to 5.
//
// Bounded: the stack, the marks, the length of one text; a container costs a small multiple of the text that makes it.
// Not thread-safe.
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "base/column.h"
#include "import/readers/cuda_snapshot/fault.h"
#include "import/readers/cuda_snapshot/store.h"
#include "import/readers/cuda_snapshot/window.h"

namespace vramscope::pickle {

// Sees each container when it is filled for the first time and may keep it in a smaller form: a frame, a stack or an
// entry. Absent: it stays as it is.
class Shrinker {
 public:
  virtual ~Shrinker() = default;
  virtual Value shrink_list(const Value* items, std::size_t count, std::int64_t offset) = 0;
  // key, value, key, value, …
  virtual Value shrink_dict(const Value* items, std::size_t count, std::int64_t offset) = 0;
};

class Machine {
 public:
  static constexpr std::size_t kMostValues = std::size_t{1} << 24;
  static constexpr std::size_t kMostMarks = 100'000;
  static constexpr std::size_t kMostTextBytes = std::size_t{64} << 20;
  // Longer first fillings are never shrunk: CPython writes longer lists in several parts.
  static constexpr std::size_t kMostShrunk = 1000;

  Machine(Window& window, Store& store, Shrinker& shrinker) : window_(window), store_(store), shrinker_(shrinker) {}

  // Up to the end or the first fault.
  Fault run();
  // What run() made; after a fault that is no refusal what was whole so far, with unfinished lists in their places and
  // unfinished dictionaries left out, but for the outermost one. Absent when there is nothing.
  Value result();

  // Of the opcode that run() stopped at.
  std::int64_t offset() const { return offset_; }
  unsigned char opcode() const { return opcode_; }
  // What a forbidden opcode asks for: "os.system".
  const std::string& asked_for() const { return asked_for_; }
  int protocol() const { return protocol_; }
  // Containers that changed after they were shrunk; the change is lost.
  std::int64_t late_changes() const { return late_changes_; }
  std::int64_t first_late_change() const { return first_late_change_; }

 private:
  static constexpr std::size_t kMargin = Window::kMargin;  // more than any opcode with operands of fixed length

  // machine.cpp: what snapshots are made of.
  Fault step();
  Fault run_hot(const char* last);
  const char* push_memo_run(const char* p, const char* last);
  Fault push(Value value) {
    if (top_ == stack_end_) {
      if (const Fault fault = grow_stack(); fault != Fault::none) return fault;
    }
    *top_++ = value;
    return Fault::none;
  }
  Fault grow_stack();
  Fault push_mark();
  Fault pop_mark(std::size_t& begin);
  Fault memoize(std::uint64_t index);
  Fault recall(std::uint64_t index);
  Value shared(Value value);
  Fault fill(bool is_dict);
  Fault fill_one(bool is_dict);
  Fault put_items(Value& target, const Value* items, std::size_t count, bool is_dict, bool may_shrink);
  std::size_t fence() const { return marks_.empty() ? 0 : marks_.back(); }
  std::size_t depth() const { return static_cast<std::size_t>(top_ - stack_.data()); }
  bool has(std::size_t count) const { return depth() >= fence() + count; }

  // machine_rare.cpp: the rest.
  Fault run_rare();
  Fault run_container(unsigned char code);
  Fault run_stack(unsigned char code);
  Fault run_text(unsigned char code);
  Fault run_line(unsigned char code);
  Fault run_call(unsigned char code);
  Fault make_tuple(std::size_t begin);
  Fault make_dict(std::size_t begin);
  Fault take_bytes(std::uint64_t length, std::string_view& bytes);
  Fault take_line(std::string_view& line);
  Fault push_long(std::uint64_t length);
  std::uint64_t operand(std::size_t bytes);

  // machine_calls.cpp: the allow-list.
  Fault push_callable(std::string_view module, std::string_view name);
  Fault call(Value callable, Value arguments);
  Fault forbid(std::string name);

  // machine_cut.cpp
  void close_frame(std::size_t begin);
  Value fold(std::size_t begin);

  Window& window_;
  Store& store_;
  Shrinker& shrinker_;
  Column<Value> stack_;  // raw room; top_ is the end of what is used
  Value* top_ = nullptr;
  Value* stack_end_ = nullptr;
  Column<std::uint32_t> marks_;  // depths
  Column<Value> memo_;
  std::size_t memo_room_ = 0;
  absl::flat_hash_map<std::uint64_t, Value> far_memo_;  // indices far beyond what was stored before
  std::uint64_t memoized_ = 0;                          // places taken: where MEMOIZE stores
  std::int64_t offset_ = 0;
  std::string asked_for_;
  std::int64_t late_changes_ = 0;
  std::int64_t first_late_change_ = 0;
  int protocol_ = 0;
  unsigned char opcode_ = 0;
  bool is_whole_ = false;
  bool may_share_ = false;  // some container has more than one reference besides its place in the memo
};

// "GLOBAL"; "0x.." for a byte that is no opcode.
std::string opcode_name(unsigned char code);
// Bytes of the operands that have a fixed length, the length of a counted text included; 0 for opcodes without.
std::size_t operand_bytes(unsigned char code);

}  // namespace vramscope::pickle
