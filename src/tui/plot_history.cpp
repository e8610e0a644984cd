#include "tui/plot_history.h"

#include <algorithm>
#include <cmath>

namespace vramscope::tui {

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

std::int64_t floor_divide(std::int64_t value, std::int64_t by) {
  const std::int64_t quotient = value / by;
  return value % by < 0 ? quotient - 1 : quotient;
}

std::size_t slot(std::int64_t bucket) {
  const auto count = static_cast<std::int64_t>(PlotHistory::kBuckets);
  const std::int64_t rest = bucket % count;
  return static_cast<std::size_t>(rest < 0 ? rest + count : rest);
}

}  // namespace

void LevelRange::add(LevelRange other) {
  if (!other.is_known()) return;
  if (!is_known()) {
    *this = other;
    return;
  }
  low = std::min(low, other.low);
  high = std::max(high, other.high);
}

std::uint8_t level_of_share(double share) {
  if (std::isnan(share)) return 0;
  return static_cast<std::uint8_t>(std::lround(std::clamp(share, 0.0, 1.0) * LevelRange::kTop));
}

std::int64_t PlotHistory::bucket_ns(std::size_t zoom) {
  return kWindows[zoom] * kSecondNs / static_cast<std::int64_t>(kBuckets);
}

void PlotHistory::add_to(Ring& ring, std::size_t zoom, std::int64_t time_ns, std::optional<std::uint8_t> level,
                         std::optional<std::uint8_t> before) {
  const std::int64_t bucket = floor_divide(time_ns, bucket_ns(zoom));
  if (ring.buckets.empty()) {
    ring.buckets.assign(kBuckets, LevelRange());
    ring.newest = bucket;
  }
  const LevelRange held = before ? LevelRange{*before, *before} : LevelRange();
  const std::int64_t first = std::max(ring.newest + 1, bucket - static_cast<std::int64_t>(kBuckets) + 1);
  for (std::int64_t at = first; at <= bucket; ++at) {
    ring.buckets[slot(at)] = at < bucket || !level ? held : LevelRange();
  }
  ring.newest = std::max(ring.newest, bucket);
  if (level) ring.buckets[slot(bucket)].add({*level, *level});
}

void PlotHistory::add(std::int64_t time_ns, std::optional<std::uint8_t> level) {
  if (is_empty_ && !level) return;
  if (!is_empty_ && time_ns < last_ns_) return;
  for (std::size_t zoom = 0; zoom < rings_.size(); ++zoom) add_to(rings_[zoom], zoom, time_ns, level, last_);
  last_ = level;
  last_ns_ = time_ns;
  is_empty_ = false;
}

void PlotHistory::pieces(std::size_t zoom, std::int64_t now_ns, std::span<LevelRange> out) const {
  std::fill(out.begin(), out.end(), LevelRange());
  const Ring& ring = rings_[zoom];
  if (ring.buckets.empty() || out.empty()) return;
  const std::int64_t width_ns = bucket_ns(zoom);
  const auto count = static_cast<std::int64_t>(out.size());
  const std::int64_t piece_ns = std::max<std::int64_t>(kWindows[zoom] * kSecondNs / count, 1);
  const std::int64_t last_piece = floor_divide(now_ns, piece_ns);
  const std::int64_t oldest = ring.newest - static_cast<std::int64_t>(kBuckets) + 1;
  for (std::int64_t piece = 0; piece < count; ++piece) {
    const std::int64_t begin_ns = (last_piece - count + 1 + piece) * piece_ns;
    // Buckets that begin within the piece; where it is narrower than a bucket, the one it lies in.
    const std::int64_t lies_in = floor_divide(begin_ns, width_ns);
    std::int64_t first = lies_in * width_ns == begin_ns ? lies_in : lies_in + 1;
    const std::int64_t last = floor_divide(begin_ns + piece_ns - 1, width_ns);
    if (first > last) first = last;
    LevelRange& range = out[static_cast<std::size_t>(piece)];
    for (std::int64_t bucket = std::max(first, oldest); bucket <= std::min(last, ring.newest); ++bucket) {
      range.add(ring.buckets[slot(bucket)]);
    }
    // Now may lie behind the last sample's bucket: what was last known holds.
    if (first > ring.newest && last_ && begin_ns <= now_ns) range = {*last_, *last_};
  }
}

}  // namespace vramscope::tui
