#include "import/readers/cuda_snapshot/machine.h"

#include <algorithm>
#include <cstring>

namespace vramscope::pickle {

namespace {

// Pickles are little-endian; so is every machine that this program is built for.
template <typename T>
T load(const char* p) {
  T value;
  std::memcpy(&value, p, sizeof(value));
  return value;
}

constexpr std::uint64_t low_bytes(unsigned bytes) {
  return bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes)) - 1;
}

}  // namespace

Fault Machine::run() {
  Fault fault = Fault::none;
  while (fault == Fault::none) fault = step();
  is_whole_ = fault == Fault::stopped;
  return fault;
}

// Any number of hot opcodes, or one of the others, or one close to the end of the file.
Fault Machine::step() {
  if (window_.reach(kMargin)) {
    const Fault fault = run_hot(window_.end - kMargin);
    if (fault != Fault::none) return fault;
    if (!window_.reach(kMargin)) return Fault::none;
  }
  offset_ = window_.offset();
  if (window_.at == window_.end) return Fault::cut;
  opcode_ = static_cast<unsigned char>(*window_.at);
  if (!window_.reach(1 + operand_bytes(opcode_))) return Fault::cut;
  const char* const begin = window_.at;
  const Fault fault = run_hot(begin);
  if (fault != Fault::none || window_.at != begin) return fault;
  ++window_.at;
  return run_rare();
}

// Opcodes that begin at `last` or before, up to one that is rare. kMargin bytes can be read from each.
Fault Machine::run_hot(const char* const last) {
  const char* p = window_.at;
  Fault fault = Fault::none;
  while (p <= last) {
    const char* const begin = p;
    const auto code = static_cast<unsigned char>(*p);
    const char* const operand = p + 1;
    switch (code) {
      case 'h':
      case 'j':
        p = push_memo_run(p, last);
        if (p != begin) break;
        fault = recall(code == 'h' ? load<std::uint8_t>(operand) : load<std::uint32_t>(operand));
        p += code == 'h' ? 2 : 5;
        break;
      case 'q':
      case 'r':
        fault = memoize(code == 'q' ? load<std::uint8_t>(operand) : load<std::uint32_t>(operand));
        p += code == 'q' ? 2 : 5;
        break;
      case 0x94:
        fault = memoize(memoized_);
        ++p;
        break;
      case '(':
        fault = push_mark();
        ++p;
        break;
      case ']':
        fault = push(store_.make(Kind::empty_list));
        ++p;
        break;
      case '}':
        fault = push(store_.make(Kind::empty_dict));
        ++p;
        break;
      case 'K':
        fault = push(Value::integer(load<std::uint8_t>(operand)));
        p += 2;
        break;
      case 'M':
        fault = push(Value::integer(load<std::uint16_t>(operand)));
        p += 3;
        break;
      case 'J':
        fault = push(Value::integer(load<std::int32_t>(operand)));
        p += 5;
        break;
      case 'N':
        fault = push(kNothing);
        ++p;
        break;
      case 0x88:
        fault = push(kTrue);
        ++p;
        break;
      case 0x89:
        fault = push(kFalse);
        ++p;
        break;
      case 0x8a: {  // LONG1
        const unsigned bytes = load<std::uint8_t>(operand);
        if (bytes > 8 || window_.end - operand <= static_cast<std::ptrdiff_t>(bytes)) {
          window_.at = begin;
          return Fault::none;
        }
        std::uint64_t whole = load<std::uint64_t>(operand + 1) & low_bytes(bytes);
        if (bytes > 0 && bytes < 8 && (whole >> (8 * bytes - 1)) != 0) whole |= ~low_bytes(bytes);
        fault = push(store_.integer(static_cast<std::int64_t>(whole)));
        p += 2 + bytes;
        break;
      }
      case 0x8c: {  // SHORT_BINUNICODE
        const std::size_t bytes = load<std::uint8_t>(operand);
        if (static_cast<std::size_t>(last - p) < bytes) {
          window_.at = begin;
          return Fault::none;
        }
        fault = push(store_.text({operand + 1, bytes}));
        p += 2 + bytes;
        break;
      }
      case 0x95:
        p += 9;
        break;  // FRAME: where a reader may stop to look; nothing depends on it
      case 'e':
      case 'u':
        window_.at = begin;
        fault = fill(code == 'u');
        ++p;
        break;
      default:
        window_.at = begin;
        return Fault::none;
    }
    if (fault != Fault::none) {
      window_.at = begin;
      offset_ = window_.offset();
      opcode_ = code;
      return fault;
    }
  }
  window_.at = p;
  return Fault::none;
}

// Frames are written as long rows of references, short and long ones mixed: without a branch on which it is.
const char* Machine::push_memo_run(const char* p, const char* last) {
  const Value* const memo = memo_.data();
  const std::uint64_t size = memo_.size();
  Value* top = top_;
  while (p <= last && top < stack_end_) {
    const auto word = load<std::uint64_t>(p);
    const std::uint64_t code = word & 0xff;
    const std::uint64_t is_long = code == 'j' ? 1 : 0;
    if ((code != 'h') & (is_long == 0)) break;
    const std::uint64_t index = (word >> 8) & (0xffu | (0xffffff00u & (0u - is_long)));
    if (index >= size) break;
    // Absent ones and containers that may still be empty are for recall(): special and object are the tags 0 and 2.
    constexpr std::uint64_t kOtherTags = 5;
    if ((memo[index].bits() & kOtherTags) == 0) break;
    *top++ = memo[index];
    p += 2u + 3u * is_long;
  }
  top_ = top;
  return p;
}

Fault Machine::grow_stack() {
  const std::size_t used = depth();
  if (used >= kMostValues) return Fault::too_deep;
  stack_.resize(std::min(kMostValues, std::max<std::size_t>(4096, used * 2)));
  top_ = stack_.data() + used;
  stack_end_ = stack_.data() + stack_.size();
  return Fault::none;
}

Fault Machine::push_mark() {
  if (marks_.size() >= kMostMarks) return Fault::too_many_marks;
  marks_.push_back(static_cast<std::uint32_t>(depth()));
  return Fault::none;
}

Fault Machine::pop_mark(std::size_t& begin) {
  if (marks_.empty()) return Fault::no_mark;
  begin = marks_.back();
  marks_.resize(marks_.size() - 1);
  return Fault::none;
}

Fault Machine::memoize(std::uint64_t index) {
  if (!has(1)) return Fault::stack_empty;
  const Value value = top_[-1];
  if (index > memo_.size() * 2 + 1024) {
    may_share_ = true;
    if (far_memo_.insert_or_assign(index, value).second) ++memoized_;
    return Fault::none;
  }
  if (index >= memo_.size()) {
    if (index >= memo_room_) memo_.reserve(memo_room_ = static_cast<std::size_t>(index + index / 2 + 1024));
    memo_.resize(index + 1);
  }
  if (memo_[index].is_absent()) ++memoized_;
  memo_[index] = value;
  // Remembered, so that the place in the memo can hold what the container is shrunk to.
  if (value.is(Tag::object)) {
    const Kind kind = store_.kind(value);
    const bool is_empty = kind == Kind::empty_list || kind == Kind::empty_dict;
    if (is_empty && store_.payload(value) == 0) {
      store_.set_payload(value, index + 1);
    } else {
      may_share_ = true;
    }
  }
  return Fault::none;
}

Fault Machine::recall(std::uint64_t index) {
  Value value;
  if (index < memo_.size()) value = memo_[index];
  if (value.is_absent()) {
    const auto found = far_memo_.find(index);
    if (found == far_memo_.end()) return Fault::no_such_memo;
    value = found->second;
  }
  return push(shared(value));
}

// A second reference to a container: from now on a handle may outlive the shrinking of what it names.
Value Machine::shared(Value value) {
  if (value.is(Tag::object)) may_share_ = true;
  return store_.resolve(value);
}

Fault Machine::fill(bool is_dict) {
  std::size_t begin = 0;
  if (const Fault fault = pop_mark(begin); fault != Fault::none) return fault;
  if (begin < fence() + 1) return Fault::stack_empty;
  Value* const items = stack_.data() + begin;
  const auto count = static_cast<std::size_t>(top_ - items);
  top_ = items;
  return put_items(items[-1], items, count, is_dict, count < kMostShrunk);
}

// APPEND and SETITEM.
Fault Machine::fill_one(bool is_dict) {
  const std::size_t count = is_dict ? 2 : 1;
  if (!has(count + 1)) return Fault::stack_empty;
  top_ -= count;
  return put_items(top_[-1], top_, count, is_dict, !is_dict);
}

Fault Machine::put_items(Value& target, const Value* items, std::size_t count, bool is_dict, bool may_shrink) {
  if (count == 0) return Fault::none;
  if (is_dict && count % 2 != 0) return Fault::stack_empty;
  target = store_.resolve(target);
  if (target.is(Tag::frame) || target.is(Tag::stack) || target.is(Tag::entry)) {
    if (late_changes_++ == 0) first_late_change_ = window_.offset();
    return Fault::none;
  }
  if (!target.is(Tag::object)) return Fault::wrong_type;
  const Kind kind = store_.kind(target);
  if (is_dict ? kind != Kind::empty_dict && kind != Kind::dict : kind != Kind::empty_list && kind != Kind::list) {
    return Fault::wrong_type;
  }
  if (may_shrink && (kind == Kind::empty_list || kind == Kind::empty_dict)) {
    const Value shrunk = is_dict ? shrinker_.shrink_dict(items, count, window_.offset())
                                 : shrinker_.shrink_list(items, count, window_.offset());
    if (!shrunk.is_absent()) {
      const std::uint64_t place = store_.payload(target);
      if (place != 0 && memo_[place - 1] == target) memo_[place - 1] = shrunk;
      store_.shrink(target, shrunk, !may_share_);
      target = shrunk;
      return Fault::none;
    }
  }
  return store_.append(target, items, count) ? Fault::none : Fault::too_many_items;
}

}  // namespace vramscope::pickle
