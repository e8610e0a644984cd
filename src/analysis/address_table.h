#pragma once
// What a log said last about each address: a hash table for one pass over millions of entries. Nothing is erased, so
// that an address that was freed last differs from one that never came. Not thread-safe.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace vramscope {

class AddressTable {
 public:
  struct Last {
    std::uint64_t address = kUnknownAddress;
    std::uint32_t allocation = kNone;  // index of the caller's; kNone = nothing was allocated there
    bool is_live = false;
    bool was_freed = false;
  };

  AddressTable() : slots_(kFirst), shift_(64 - kFirstBits) {}

  // A new entry for an address that has none. Valid until the next call. `address` must not be kUnknownAddress.
  Last& at(std::uint64_t address) {
    if (8 * (used_ + 1) > 5 * slots_.size()) grow();
    Last& slot = slots_[slot_of(address)];
    if (slot.address == kUnknownAddress) {
      slot.address = address;
      ++used_;
    }
    return slot;
  }
  // nullptr for an address that has none.
  const Last* find(std::uint64_t address) const {
    const Last& slot = slots_[slot_of(address)];
    return slot.address == kUnknownAddress ? nullptr : &slot;
  }
  // Has the processor fetch what at() will need soon.
  void prefetch(std::uint64_t address) const { __builtin_prefetch(&slots_[first_slot(address)], 1); }

 private:
  static constexpr unsigned kFirstBits = 12;
  static constexpr std::size_t kFirst = std::size_t{1} << kFirstBits;

  // Addresses differ in their middle bits; the product carries them to the top.
  std::size_t first_slot(std::uint64_t address) const {
    return static_cast<std::size_t>((address * 0x9e3779b97f4a7c15u) >> shift_);
  }
  std::size_t slot_of(std::uint64_t address) const {
    std::size_t slot = first_slot(address);
    while (slots_[slot].address != address && slots_[slot].address != kUnknownAddress) {
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return slot;
  }
  void grow() {
    std::vector<Last> before(slots_.size() * 2);
    before.swap(slots_);
    --shift_;
    for (const Last& last : before) {
      if (last.address != kUnknownAddress) slots_[slot_of(last.address)] = last;
    }
  }

  std::vector<Last> slots_;
  std::size_t used_ = 0;
  unsigned shift_;
};

}  // namespace vramscope
