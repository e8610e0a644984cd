#pragma once
// Why a pickle ends before its end.
#include <cstdint>

namespace vramscope::pickle {

enum class Fault : std::uint8_t {
  none,
  stopped,  // the end that it should have
  cut,
  // Damage: what was whole before it is kept.
  unknown_opcode,
  bad_operand,   // a number or a text that is not what its opcode says
  stack_empty,   // an opcode wants more values than there are
  no_mark,       // an opcode wants a mark that nobody has set
  no_such_memo,  // a reference to what was not stored
  wrong_type,    // append to what is no list, and so on
  // Refusals: the file is left alone.
  forbidden,  // asks for a class or a function
  too_deep,   // more values on the stack than any snapshot needs
  too_many_marks,
  too_long,  // one text or number larger than the limit
  too_many_items,
};

constexpr bool is_refusal(Fault fault) {
  return fault >= Fault::forbidden;
}

}  // namespace vramscope::pickle
