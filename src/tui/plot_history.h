#pragma once
// A level over time, kept for every width of window that a plot can show: drawing costs the same after a minute and
// after a week.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace vramscope::tui {

// Seconds that a plot shows, by zoom.
inline constexpr std::array<std::int64_t, 6> kWindows{60, 300, 900, 3600, 6 * 3600, 24 * 3600};

// The lowest and highest level of a piece of time. Levels: 0 to kTop stand for 0 to 100 %.
struct LevelRange {
  static constexpr std::uint8_t kTop = 250;
  static constexpr std::uint8_t kNone = 255;
  std::uint8_t low = kNone;
  std::uint8_t high = kNone;
  bool is_known() const { return low != kNone; }
  void add(LevelRange other);
};

// The level that a share of 1 is; clamped.
std::uint8_t level_of_share(double share);

// About 4 KiB once something is known.
class PlotHistory {
 public:
  static constexpr std::size_t kBuckets = 360;  // of each window

  // Times do not fall; a time that does is left out. A level holds until the next one; nothing leaves a gap.
  void add(std::int64_t time_ns, std::optional<std::uint8_t> level);
  // The window of that zoom up to `now_ns`, in pieces of equal length, the newest last. Their edges are the same at
  // every call with as many pieces, so that a curve moves and does not flicker.
  void pieces(std::size_t zoom, std::int64_t now_ns, std::span<LevelRange> out) const;

 private:
  struct Ring {
    std::vector<LevelRange> buckets;  // by number modulo kBuckets
    std::int64_t newest = 0;          // number of the bucket that is being filled
  };
  static std::int64_t bucket_ns(std::size_t zoom);
  static void add_to(Ring& ring, std::size_t zoom, std::int64_t time_ns, std::optional<std::uint8_t> level,
                     std::optional<std::uint8_t> before);

  std::array<Ring, kWindows.size()> rings_;
  std::optional<std::uint8_t> last_;
  std::int64_t last_ns_ = 0;
  bool is_empty_ = true;
};

}  // namespace vramscope::tui
