#pragma once
// The containers, texts and large numbers of one pickle. Values refer to them by handle; nothing is freed before the
// whole. Not thread-safe.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "base/column.h"
#include "import/readers/cuda_snapshot/keys.h"
#include "import/readers/cuda_snapshot/value.h"
#include "model/string_pool.h"

namespace vramscope::pickle {

// Three of them are the tags of what a container was shrunk to.
enum class Kind : std::uint8_t {
  empty_list = 0,  // payload: 1 + its place in the memo, 0 without
  empty_dict = 1,  // the same
  list = 2,        // payload: index of its items; sets too
  dict = 3,        // the same: key, value, key, value, …
  frame = static_cast<std::uint8_t>(Tag::frame),
  stack = static_cast<std::uint8_t>(Tag::stack),
  entry = static_cast<std::uint8_t>(Tag::entry),
  tuple = 7,
};

struct Items {
  Value* data = nullptr;
  std::uint32_t size = 0;
  std::uint32_t capacity = 0;
  const Value* begin() const { return data; }
  const Value* end() const { return data + size; }
};

// What does not fit into a Value.
struct Number {
  std::uint64_t magnitude = 0;  // of an integer
  double real = 0;
  bool is_real = false;
  bool is_negative = false;
  bool is_clamped = false;  // the integer is larger still
};

class Store {
 public:
  Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store();

  StringPool strings;  // the Keys come first

  Value make(Kind kind) {
    objects_.push_back(static_cast<std::uint64_t>(kind));
    return {Tag::object, objects_.size() - 1};
  }
  // A list, a dictionary or a tuple with these items.
  Value make(Kind kind, const Value* items, std::size_t count);
  Value text(std::string_view bytes) { return {Tag::text, strings.intern(bytes)}; }
  Value integer(std::int64_t number);
  Value number(const Number& number);

  // What a handle stands for now: itself, or what the container was shrunk to.
  Value resolve(Value value) const {
    if (!value.is(Tag::object)) return value;
    const std::uint64_t object = objects_[value.payload()];
    const auto tag = static_cast<Tag>(object & 7);
    return tag == Tag::frame || tag == Tag::stack || tag == Tag::entry ? Value::from_bits(object) : value;
  }
  // `value` must be an object that is not shrunk.
  Kind kind(Value value) const { return static_cast<Kind>(objects_[value.payload()] & 7); }
  std::uint64_t payload(Value value) const { return objects_[value.payload()] >> 3; }
  void set_payload(Value value, std::uint64_t payload) {
    objects_[value.payload()] = (objects_[value.payload()] & 7) | (payload << 3);
  }
  // `is_last_use`: nobody has the handle any more; the newest one is given out again.
  void shrink(Value value, Value to, bool is_last_use) {
    objects_[value.payload()] = to.bits();
    if (is_last_use && value.payload() + 1 == objects_.size()) objects_.resize(objects_.size() - 1);
  }
  // Appends to a list (or to a dictionary, in pairs), which may be empty. False when it would be too large.
  bool append(Value container, const Value* items, std::size_t count);

  bool is_list(Value value) const;  // list or tuple, empty or not
  bool is_dict(Value value) const;
  // Of a list, a tuple or a dictionary; empty for all else. Until the next append.
  Items items(Value value) const;
  // The last value under a key, absent without.
  static Value find(const Items& pairs, Key key);

  // Absent for what is no integer (true and false are 1 and 0); the ends of int64 for what is larger.
  std::optional<std::int64_t> as_int64(Value value) const;
  // Addresses: the whole range of uint64. Negative ones are what a signed field made of the upper half.
  std::optional<std::uint64_t> as_address(Value value) const;
  const Number* number_of(Value value) const { return value.is(Tag::number) ? &numbers_[value.payload()] : nullptr; }
  std::string_view text_of(Value value) const { return value.is(Tag::text) ? strings.view(value.id()) : ""; }

 private:
  static constexpr std::uint32_t kMostSmall = 1024;  // items that lie in a shared block
  static constexpr std::size_t kBlock = 32 * 1024;
  Value* room_for(std::uint32_t count);
  void grow(Items& items, std::uint64_t size);

  Column<std::uint64_t> objects_;
  Column<Items> items_;
  Column<Number> numbers_;
  struct Free {
    void operator()(void* block) const { std::free(block); }
  };
  std::vector<std::unique_ptr<void, Free>> blocks_;
  Value* next_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace vramscope::pickle
