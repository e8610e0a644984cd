#include "import/readers/cuda_snapshot/store.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

namespace vramscope::pickle {

Store::Store() {
  for (const std::string_view name : kKeyNames) strings.intern_stable(name);
}

Store::~Store() {
  for (const Items& items : items_) {
    if (items.capacity > kMostSmall) std::free(items.data);
  }
}

Value Store::make(Kind kind, const Value* items, std::size_t count) {
  const Value made = make(kind);
  set_payload(made, items_.size());
  items_.push_back({});
  Items& held = items_.back();
  grow(held, count);
  if (count > 0) std::memcpy(static_cast<void*>(held.data), items, count * sizeof(Value));
  held.size = static_cast<std::uint32_t>(count);
  return made;
}

Value Store::integer(std::int64_t whole) {
  if (whole >= Value::kLeast && whole <= Value::kMost) return Value::integer(whole);
  Number large;
  large.is_negative = whole < 0;
  large.magnitude = whole < 0 ? ~static_cast<std::uint64_t>(whole) + 1 : static_cast<std::uint64_t>(whole);
  return number(large);
}

Value Store::number(const Number& number) {
  numbers_.push_back(number);
  return {Tag::number, numbers_.size() - 1};
}

Value* Store::room_for(std::uint32_t count) {
  if (count > left_) {
    void* block = std::malloc(kBlock * sizeof(Value));
    if (block == nullptr) throw std::bad_alloc();
    blocks_.emplace_back(block);
    next_ = static_cast<Value*>(block);
    left_ = kBlock;
  }
  Value* room = next_;
  next_ += count;
  left_ -= count;
  return room;
}

// Small ones leave their old place behind: at most as much again.
void Store::grow(Items& items, std::uint64_t size) {
  if (size <= items.capacity) return;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  // The first filling is mostly the last: no slack. A long list is an allocator's log: room that nothing reaches is
  // never touched, and moving it is dear.
  constexpr std::uint32_t kLong = 1u << 16;
  const std::uint64_t slack = items.capacity > kLong ? items.capacity * std::uint64_t{3} : items.capacity / 2 + 1;
  const auto capacity =
      static_cast<std::uint32_t>(items.size == 0 ? size : std::min(kMost, std::max(size, items.capacity + slack)));
  if (capacity <= kMostSmall) {
    Value* room = room_for(capacity);
    std::copy(items.begin(), items.end(), room);
    items.data = room;
  } else {
    void* old = items.capacity > kMostSmall ? static_cast<void*>(items.data) : nullptr;
    void* room = std::realloc(old, std::size_t{capacity} * sizeof(Value));
    if (room == nullptr) throw std::bad_alloc();
    if (old == nullptr && items.size > 0) std::memcpy(room, items.data, items.size * sizeof(Value));
    items.data = static_cast<Value*>(room);
  }
  items.capacity = capacity;
}

bool Store::append(Value container, const Value* items, std::size_t count) {
  if (count == 0) return true;
  const Kind now = kind(container);
  if (now == Kind::empty_list || now == Kind::empty_dict) {
    objects_[container.payload()] = (std::uint64_t{items_.size()} << 3) |
                                    static_cast<std::uint64_t>(now == Kind::empty_list ? Kind::list : Kind::dict);
    items_.push_back({});
  }
  Items& held = items_[payload(container)];
  if (count > std::numeric_limits<std::uint32_t>::max() - held.size) return false;
  grow(held, std::uint64_t{held.size} + count);
  std::memcpy(static_cast<void*>(held.data + held.size), items, count * sizeof(Value));
  held.size += static_cast<std::uint32_t>(count);
  return true;
}

bool Store::is_list(Value value) const {
  if (!value.is(Tag::object)) return false;
  const Kind now = kind(value);
  return now == Kind::empty_list || now == Kind::list || now == Kind::tuple;
}

bool Store::is_dict(Value value) const {
  if (!value.is(Tag::object)) return false;
  const Kind now = kind(value);
  return now == Kind::empty_dict || now == Kind::dict;
}

Items Store::items(Value value) const {
  if (!value.is(Tag::object)) return {};
  const Kind now = kind(value);
  return now == Kind::list || now == Kind::dict || now == Kind::tuple ? items_[payload(value)] : Items{};
}

Value Store::find(const Items& pairs, Key key) {
  const Value wanted{Tag::text, static_cast<std::uint64_t>(key)};
  for (std::uint32_t i = pairs.size / 2; i > 0; --i) {
    if (pairs.data[2 * i - 2] == wanted) return pairs.data[2 * i - 1];
  }
  return {};
}

std::optional<std::int64_t> Store::as_int64(Value value) const {
  if (value.is(Tag::integer)) return value.as_integer();
  if (value == kTrue || value == kFalse) return value == kTrue ? 1 : 0;
  const Number* large = number_of(value);
  if (large == nullptr || large->is_real) return std::nullopt;
  constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
  // kUnknown has the least value for its own.
  if (large->is_negative) {
    return large->is_clamped || large->magnitude >= kTop ? std::numeric_limits<std::int64_t>::min() + 1
                                                         : -static_cast<std::int64_t>(large->magnitude);
  }
  return large->is_clamped || large->magnitude >= kTop ? std::numeric_limits<std::int64_t>::max()
                                                       : static_cast<std::int64_t>(large->magnitude);
}

std::optional<std::uint64_t> Store::as_address(Value value) const {
  if (value.is(Tag::integer)) return static_cast<std::uint64_t>(value.as_integer());
  const Number* large = number_of(value);
  if (large == nullptr || large->is_real || large->is_clamped) return std::nullopt;
  return large->is_negative ? ~large->magnitude + 1 : large->magnitude;
}

}  // namespace vramscope::pickle
