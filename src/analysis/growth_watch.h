#pragma once
// Does a level keep growing and not fall back over its own rhythm? Decided sample by sample, in bounded memory.
//
// Samples are put into groups of 5, 10, 20, 40 … of which the lowest value is kept: a rhythm shorter than a group is
// gone there, a longer one shows as falls. The level grows when the lowest values of eight groups in a row rise at any
// of these widths, by about as much at the end as at the beginning; what has fallen back since does not count, nor does
// a rise that is no longer than those that fell back before. Not growth: a sawtooth, warm-up and a cache that fills
// once (it levels off), one longer input (it is one step).
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
  double bytes_per_hour = 0;     // of late, where it has changed
  std::int64_t since_ns = 0;     // since when it has risen
  std::int64_t from_bytes = 0;   // the level then
  std::int64_t grown_bytes = 0;  // from then on, as far as is known for certain:
  std::int64_t grown_ns = 0;     // within this time
  // Of none: the growth that was told before ended by a fall; else it levelled off.
  bool has_fallen = false;
};

// A device that is full sooner than this needs somebody now; one that is full later than that, nobody's attention.
inline constexpr std::int64_t kSoonFullNs = 1'200'000'000'000;  // 20 minutes
inline constexpr std::int64_t kFarAwayNs = 7 * 24 * 3600LL * 1'000'000'000;

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
    std::vector<Group> groups;  // oldest first, at most kKept
    std::optional<Group> half;  // the first of two groups of the level below
  };

  void complete(std::size_t number, const Group& group);
  std::optional<std::int64_t> lowest_since(std::size_t number) const;
  std::vector<Group> lasting(std::size_t number, std::size_t fewest) const;
  bool is_at_rest(std::size_t number, std::int64_t small_step) const;
  bool has_fallen_so_before(std::size_t number, std::int64_t rise) const;
  std::optional<Growth> rising(std::size_t number, std::size_t fewest, GrowthState state) const;
  bool has_levelled_off() const;
  void take(const Growth& found, std::size_t number);
  void judge();

  std::vector<Level> levels_;
  std::optional<Group> open_;  // the group of the lowest level that is being filled
  std::size_t open_samples_ = 0;
  std::int64_t last_ns_ = 0;
  bool has_samples_ = false;
  std::size_t found_level_ = 0;
  std::int64_t floor_ = 0;            // of growth: below it, half of what made it certain is gone
  std::int64_t rest_ns_ = INT64_MIN;  // when the growth before ended: what was then is no part of the next
  Growth growth_;
};

}  // namespace vramscope
