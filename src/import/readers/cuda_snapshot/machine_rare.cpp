// Opcodes that snapshots seldom hold: protocols 0 and 1, long texts, tuples, sets.
#include <cstring>

#include "import/readers/cuda_snapshot/literals.h"
#include "import/readers/cuda_snapshot/machine.h"

namespace vramscope::pickle {

namespace {

enum class Group : std::uint8_t { none, hot, container, stack, text, line, call, frame };

struct Opcode {
  unsigned char code;
  const char* name;
  std::uint8_t operand_bytes;
  Group group;
};

constexpr Opcode kOpcodes[] = {
    {'(', "MARK", 0, Group::hot},
    {'.', "STOP", 0, Group::stack},
    {'0', "POP", 0, Group::stack},
    {'1', "POP_MARK", 0, Group::stack},
    {'2', "DUP", 0, Group::stack},
    {'F', "FLOAT", 0, Group::line},
    {'I', "INT", 0, Group::line},
    {'J', "BININT", 4, Group::hot},
    {'K', "BININT1", 1, Group::hot},
    {'L', "LONG", 0, Group::line},
    {'M', "BININT2", 2, Group::hot},
    {'N', "NONE", 0, Group::hot},
    {'P', "PERSID", 0, Group::call},
    {'Q', "BINPERSID", 0, Group::call},
    {'R', "REDUCE", 0, Group::call},
    {'S', "STRING", 0, Group::line},
    {'T', "BINSTRING", 4, Group::text},
    {'U', "SHORT_BINSTRING", 1, Group::text},
    {'V', "UNICODE", 0, Group::line},
    {'X', "BINUNICODE", 4, Group::text},
    {'a', "APPEND", 0, Group::container},
    {'b', "BUILD", 0, Group::call},
    {'c', "GLOBAL", 0, Group::call},
    {'d', "DICT", 0, Group::container},
    {'}', "EMPTY_DICT", 0, Group::hot},
    {'e', "APPENDS", 0, Group::hot},
    {'g', "GET", 0, Group::line},
    {'h', "BINGET", 1, Group::hot},
    {'i', "INST", 0, Group::call},
    {'j', "LONG_BINGET", 4, Group::hot},
    {'l', "LIST", 0, Group::container},
    {']', "EMPTY_LIST", 0, Group::hot},
    {'o', "OBJ", 0, Group::call},
    {'p', "PUT", 0, Group::line},
    {'q', "BINPUT", 1, Group::hot},
    {'r', "LONG_BINPUT", 4, Group::hot},
    {'s', "SETITEM", 0, Group::container},
    {'t', "TUPLE", 0, Group::container},
    {')', "EMPTY_TUPLE", 0, Group::container},
    {'u', "SETITEMS", 0, Group::hot},
    {'G', "BINFLOAT", 8, Group::text},
    {'B', "BINBYTES", 4, Group::text},
    {'C', "SHORT_BINBYTES", 1, Group::text},
    {0x80, "PROTO", 1, Group::frame},
    {0x81, "NEWOBJ", 0, Group::call},
    {0x82, "EXT1", 1, Group::call},
    {0x83, "EXT2", 2, Group::call},
    {0x84, "EXT4", 4, Group::call},
    {0x85, "TUPLE1", 0, Group::container},
    {0x86, "TUPLE2", 0, Group::container},
    {0x87, "TUPLE3", 0, Group::container},
    {0x88, "NEWTRUE", 0, Group::hot},
    {0x89, "NEWFALSE", 0, Group::hot},
    {0x8a, "LONG1", 1, Group::text},
    {0x8b, "LONG4", 4, Group::text},
    {0x8c, "SHORT_BINUNICODE", 1, Group::text},
    {0x8d, "BINUNICODE8", 8, Group::text},
    {0x8e, "BINBYTES8", 8, Group::text},
    {0x8f, "EMPTY_SET", 0, Group::container},
    {0x90, "ADDITEMS", 0, Group::container},
    {0x91, "FROZENSET", 0, Group::container},
    {0x92, "NEWOBJ_EX", 0, Group::call},
    {0x93, "STACK_GLOBAL", 0, Group::call},
    {0x94, "MEMOIZE", 0, Group::hot},
    {0x95, "FRAME", 8, Group::hot},
    {0x96, "BYTEARRAY8", 8, Group::text},
    {0x97, "NEXT_BUFFER", 0, Group::call},
    {0x98, "READONLY_BUFFER", 0, Group::call},
};

const Opcode* find(unsigned char code) {
  for (const Opcode& opcode : kOpcodes) {
    if (opcode.code == code) return &opcode;
  }
  return nullptr;
}

}  // namespace

std::string opcode_name(unsigned char code) {
  const Opcode* known = find(code);
  if (known != nullptr) return known->name;
  constexpr char kDigits[] = "0123456789abcdef";
  return {'0', 'x', kDigits[code >> 4], kDigits[code & 15]};
}

std::size_t operand_bytes(unsigned char code) {
  const Opcode* known = find(code);
  return known == nullptr ? 0 : known->operand_bytes;
}

std::uint64_t Machine::operand(std::size_t bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, window_.at, bytes);
  window_.at += bytes;
  return value;
}

Fault Machine::run_rare() {
  const Opcode* known = find(opcode_);
  switch (known == nullptr ? Group::none : known->group) {
    case Group::container:
      return run_container(opcode_);
    case Group::stack:
      return run_stack(opcode_);
    case Group::text:
      return run_text(opcode_);
    case Group::line:
      return run_line(opcode_);
    case Group::call:
      return run_call(opcode_);
    case Group::frame: {
      const std::uint64_t protocol = operand(1);
      constexpr std::uint64_t kHighest = 5;
      if (protocol > kHighest) return Fault::bad_operand;
      protocol_ = static_cast<int>(protocol);
      return Fault::none;
    }
    case Group::none:
    case Group::hot:
      break;
  }
  return Fault::unknown_opcode;
}

Fault Machine::run_container(unsigned char code) {
  switch (code) {
    case 'a':
      return fill_one(false);
    case 's':
      return fill_one(true);
    case ')':
      return push(store_.make(Kind::tuple, nullptr, 0));
    case 0x8f:
      return push(store_.make(Kind::empty_list));
    case 0x90:
      return fill(false);
    case 0x85:
    case 0x86:
    case 0x87: {
      const std::size_t count = code - 0x84u;
      return has(count) ? make_tuple(depth() - count) : Fault::stack_empty;
    }
    default:
      break;
  }
  std::size_t begin = 0;
  if (const Fault fault = pop_mark(begin); fault != Fault::none) return fault;
  if (code == 't') return make_tuple(begin);
  const bool is_dict = code == 'd';  // else LIST, FROZENSET
  Value* const items = stack_.data() + begin;
  const auto count = static_cast<std::size_t>(top_ - items);
  Value made = store_.make(is_dict ? Kind::empty_dict : Kind::empty_list);
  const Fault fault = put_items(made, items, count, is_dict, count < kMostShrunk);
  top_ = stack_.data() + begin;
  return fault == Fault::none ? push(made) : fault;
}

Fault Machine::make_tuple(std::size_t begin) {
  Value* const items = stack_.data() + begin;
  const Value made = store_.make(Kind::tuple, items, static_cast<std::size_t>(top_ - items));
  top_ = items;
  return push(made);
}

Fault Machine::run_stack(unsigned char code) {
  switch (code) {
    case '.':
      return has(1) ? Fault::stopped : Fault::stack_empty;
    case '2':
      return has(1) ? push(shared(top_[-1])) : Fault::stack_empty;
    case '0':
      if (!marks_.empty() && depth() == marks_.back()) {
        marks_.resize(marks_.size() - 1);
        return Fault::none;
      }
      if (!has(1)) return Fault::stack_empty;
      --top_;
      return Fault::none;
    default:
      break;
  }
  std::size_t begin = 0;  // POP_MARK
  const Fault fault = pop_mark(begin);
  if (fault == Fault::none) top_ = stack_.data() + begin;
  return fault;
}

Fault Machine::take_bytes(std::uint64_t length, std::string_view& bytes) {
  if (length > kMostTextBytes) return Fault::too_long;
  if (!window_.reach(length)) return Fault::cut;
  bytes = {window_.at, length};
  window_.at += length;
  return Fault::none;
}

Fault Machine::take_line(std::string_view& line) {
  std::size_t seen = 0;
  for (;;) {
    const auto there = static_cast<std::size_t>(window_.end - window_.at);
    const void* found = there > seen ? std::memchr(window_.at + seen, '\n', there - seen) : nullptr;
    if (found != nullptr) {
      const auto length = static_cast<std::size_t>(static_cast<const char*>(found) - window_.at);
      line = {window_.at, length};
      window_.at += length + 1;
      return Fault::none;
    }
    seen = there;
    if (seen > kMostTextBytes) return Fault::too_long;
    if (!window_.reach(there + 1)) return Fault::cut;
  }
}

Fault Machine::push_long(std::uint64_t length) {
  std::string_view bytes;
  if (const Fault fault = take_bytes(length, bytes); fault != Fault::none) return fault;
  const Number number = long_from_bytes(bytes);
  return push(number_value(store_, number));
}

Fault Machine::run_text(unsigned char code) {
  const std::uint64_t operand_value = operand(operand_bytes(code));
  switch (code) {
    case 'G':
      return push(store_.number(real_from_bytes(operand_value)));
    case 0x8a:
      return push_long(operand_value);
    case 0x8b:
      if (operand_value > 0x7fffffff) return Fault::bad_operand;
      return push_long(operand_value);
    default:
      break;
  }
  std::string_view bytes;
  const Fault fault = take_bytes(operand_value, bytes);
  return fault == Fault::none ? push(store_.text(bytes)) : fault;
}

Fault Machine::run_line(unsigned char code) {
  std::string_view line;
  if (const Fault fault = take_line(line); fault != Fault::none) return fault;
  if (code == 'g' || code == 'p') {
    std::uint64_t index = 0;
    if (!parse_index(line, index)) return Fault::bad_operand;
    return code == 'g' ? recall(index) : memoize(index);
  }
  if (code == 'S' || code == 'V') {
    std::string text;
    const bool is_good = code == 'S' ? unquote(line, text) : unescape_unicode(line, text);
    return is_good ? push(store_.text(text)) : Fault::bad_operand;
  }
  if (code == 'I' && (line == "00" || line == "01")) return push(line == "01" ? kTrue : kFalse);
  Number number;
  const bool is_good = code == 'F' ? parse_real(line, number) : parse_whole(line, number);
  return is_good ? push(number_value(store_, number)) : Fault::bad_operand;
}

}  // namespace vramscope::pickle
