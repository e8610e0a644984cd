#pragma once
// The mean of a value over the last half minute, exact at any rhythm and in bounded memory.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace vramscope {

// About 1 KiB. For one thread at a time.
class RecentMean {
 public:
  static constexpr std::int64_t kWindowNs = 30'000'000'000;
  static constexpr std::int64_t kFewest = 5;  // values; at a slow rhythm the window grows until it holds as many

  struct Window {
    std::int64_t since_ns = 0;  // time of its first value
    std::int64_t count = 0;
    double mean = 0;  // every value counts the same
    std::int64_t highest = 0;
    bool is_whole = false;  // as long and as full as a window must be
  };

  // Times do not fall; a time that does is left out. |value| at most 2^31.
  void add(std::int64_t time_ns, std::int64_t value);
  // Up to the last value: the shortest stretch that is whole, or all there is. Empty before the first value.
  std::optional<Window> window() const;

 private:
  struct Slot {
    std::int64_t begin_ns = 0;  // time of its first value
    std::int64_t sum = 0;
    std::int64_t count = 0;
    std::int64_t highest = 0;
  };
  static constexpr std::int64_t kSlotNs = 1'000'000'000;
  static constexpr std::size_t kSlots = 32;  // one a second at least, for the window and what is begun of the next

  const Slot& from_end(std::size_t place) const { return slots_[(last_ + kSlots - place) % kSlots]; }

  std::array<Slot, kSlots> slots_{};  // a ring
  std::size_t last_ = 0;              // where the newest is
  std::size_t used_ = 0;
  std::int64_t last_ns_ = 0;
};

}  // namespace vramscope
