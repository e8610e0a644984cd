#pragma once
// Does a level keep growing and not fall back over its own rhythm? Decided sample by sample, in bounded memory.
//
// Samples are put into groups of 5, 10, 20, 40 … of which the lowest value is kept: a rhythm shorter than a group is
// gone there, a longer one shows as falls. The level grows when the lowest values of eight groups in a row rise at any
// of these widths, by about as much at the end as at the beginning, and by far more than they ever fell back at that
// width. Not growth: a sawtooth, warm-up and a cache that fills once (it levels off), one longer input (it is one
// step).
#include <cstdint>
#include <optional>
#include <vector>

namespace vramscope {

enum class GrowthState : std::uint8_t {
  none,
  so_far,  // steady rise over kSteadySamples samples or more, too early to tell; withdrawn when it levels off
  growing
};

struct Growth {
  GrowthState state = GrowthState::none;
  // Meaningful unless none. Of the lowest values, so that a rhythm on top of them does not count.
  double bytes_per_hour = 0;
  std::int64_t since_ns = 0;  // since when it has risen
  std::int64_t grown_bytes = 0;
  std::int64_t from_bytes = 0;  // the level then
};

class GrowthWatch {
 public:
  static constexpr std::size_t kSteadySamples = 20;
  // Eight groups last at least ten minutes before growth is called for certain: a warm-up may take some.
  static constexpr std::int64_t kFewestGroupNs = 75'000'000'000;

  // Times do not fall; a time that does is left out.
  void add(std::int64_t time_ns, std::int64_t bytes);
  const Growth& growth() const { return growth_; }

 private:
  static constexpr std::size_t kGroupSamples = kSteadySamples / 4;
  static constexpr std::size_t kKept = 32;    // groups of a width
  static constexpr std::size_t kLevels = 16;  // widths

  struct Group {
    std::int64_t begin_ns = 0;
    std::int64_t lowest = 0;
  };
  struct Level {
    std::vector<Group> groups;      // oldest first, at most kKept
    std::int64_t largest_fall = 0;  // below the highest before it; halved every kKept groups
    std::int64_t highest = 0;
    std::size_t completed = 0;
    std::optional<Group> half;  // the first of two groups of the level below
  };

  void complete(std::size_t level, const Group& group);
  static std::optional<Growth> rising(const Level& level, std::size_t fewest, GrowthState state);
  static bool is_slowing(const Level& level, std::size_t groups);
  bool has_levelled_off() const;
  void judge();

  std::vector<Level> levels_;
  std::optional<Group> open_;  // the group of the lowest level that is being filled
  std::size_t open_samples_ = 0;
  std::int64_t last_ns_ = 0;
  std::int64_t last_bytes_ = 0;
  bool has_samples_ = false;
  std::size_t found_level_ = 0;
  Growth growth_;
};

}  // namespace vramscope
