#pragma once
// One value of a pickle in eight bytes: the low three bits say what the rest is. Plain data.
#include <cstdint>

#include "model/trace.h"

namespace vramscope::pickle {

enum class Tag : std::uint8_t {
  special,  // none, true, false, a callable of the allow-list; all bits 0: no value at all
  integer,  // of 61 bits
  object,   // handle of a container in Store
  text,     // StringId in Store::strings: str and bytes
  frame,    // StringId in Trace::strings: a frame dictionary, written out
  stack,    // StackId: a list of frames
  entry,    // row of a log: a dictionary of a trace
  number,   // index into Store's numbers: what needs 64 bits and more, and floats
};

class Value {
 public:
  constexpr Value() = default;
  constexpr Value(Tag tag, std::uint64_t payload) : bits_((payload << 3) | static_cast<std::uint64_t>(tag)) {}
  static constexpr Value from_bits(std::uint64_t bits) {
    Value value;
    value.bits_ = bits;
    return value;
  }
  // Only for values inside [kLeast, kMost].
  static constexpr Value integer(std::int64_t number) { return {Tag::integer, static_cast<std::uint64_t>(number)}; }
  static constexpr std::int64_t kMost = (std::int64_t{1} << 60) - 1;
  static constexpr std::int64_t kLeast = -(std::int64_t{1} << 60);

  constexpr Tag tag() const { return static_cast<Tag>(bits_ & 7); }
  constexpr bool is(Tag wanted) const { return tag() == wanted; }
  constexpr bool is_absent() const { return bits_ == 0; }
  constexpr std::uint64_t payload() const { return bits_ >> 3; }
  constexpr std::uint32_t id() const { return static_cast<std::uint32_t>(bits_ >> 3); }
  constexpr std::int64_t as_integer() const { return static_cast<std::int64_t>(bits_) >> 3; }
  constexpr std::uint64_t bits() const { return bits_; }
  constexpr bool operator==(const Value&) const = default;

 private:
  std::uint64_t bits_ = 0;
};

inline constexpr Value kNothing{Tag::special, 1};  // None
inline constexpr Value kFalse{Tag::special, 2};
inline constexpr Value kTrue{Tag::special, 3};
inline constexpr std::uint64_t kFirstCallable = 16;  // payload of the first Callable

}  // namespace vramscope::pickle
