#include "monitor/series_history.h"

#include <algorithm>

namespace vramscope {

void SeriesHistory::add(std::int64_t time_ns, std::int64_t value) {
  const std::optional<TimedValue> before = last();
  if (before && time_ns < before->time_ns) return;
  const TimedValue point{time_ns, value};
  if (recent_.size() < kRecent) {
    recent_.push_back(point);
  } else {
    recent_[oldest_] = point;
    oldest_ = (oldest_ + 1) % kRecent;
  }
  // The rhythm of the samples, so that what is kept fills after as many of them at any rhythm.
  if (count_ == 1) bucket_ns_ = std::clamp(time_ns - before->time_ns, kNarrowestNs, kWidestFirstNs);
  add_to_buckets(point);
  ++count_;
}

void SeriesHistory::add_to_buckets(const TimedValue& point) {
  if (!buckets_.empty() && point.time_ns - buckets_.back().begin_ns < bucket_ns_) {
    Bucket& bucket = buckets_.back();
    bucket.end_ns = point.time_ns;
    if (point.value < bucket.lowest.value) bucket.lowest = point;
    if (point.value > bucket.highest.value) bucket.highest = point;
    return;
  }
  if (buckets_.size() == most_buckets_) {
    // Pairs become one bucket each. A gap may keep neighbours apart in time; they are joined all the same.
    for (std::size_t i = 0; i < most_buckets_ / 2; ++i) {
      Bucket& left = buckets_[2 * i];
      const Bucket& right = buckets_[2 * i + 1];
      left.end_ns = right.end_ns;
      if (right.lowest.value < left.lowest.value) left.lowest = right.lowest;
      if (right.highest.value > left.highest.value) left.highest = right.highest;
      buckets_[i] = left;
    }
    buckets_.resize(most_buckets_ / 2);
    bucket_ns_ *= 2;
  }
  buckets_.push_back({point.time_ns, point.time_ns, point, point});
}

std::optional<TimedValue> SeriesHistory::last() const {
  if (recent_.empty()) return std::nullopt;
  return recent_[(oldest_ + recent_.size() - 1) % recent_.size()];
}

std::optional<TimedValue> SeriesHistory::first() const {
  if (buckets_.empty()) return std::nullopt;
  const Bucket& bucket = buckets_.front();
  return bucket.lowest.time_ns < bucket.highest.time_ns ? bucket.lowest : bucket.highest;
}

std::optional<std::pair<std::int64_t, std::int64_t>> SeriesHistory::range_since(std::int64_t since_ns) const {
  std::optional<std::pair<std::int64_t, std::int64_t>> range;
  for (const TimedValue& point : points_since(since_ns)) {
    if (!range) range = {point.value, point.value};
    range->first = std::min(range->first, point.value);
    range->second = std::max(range->second, point.value);
  }
  return range;
}

std::vector<TimedValue> SeriesHistory::points_since(std::int64_t since_ns) const {
  std::vector<TimedValue> points;
  if (recent_.empty()) return points;
  const std::int64_t kept_since_ns = recent_[oldest_].time_ns;
  for (const Bucket& bucket : buckets_) {
    if (bucket.end_ns < since_ns) continue;
    const bool lowest_first = bucket.lowest.time_ns <= bucket.highest.time_ns;
    const TimedValue& a = lowest_first ? bucket.lowest : bucket.highest;
    const TimedValue& b = lowest_first ? bucket.highest : bucket.lowest;
    if (a.time_ns < kept_since_ns && a.time_ns >= since_ns) points.push_back(a);
    if (b.time_ns != a.time_ns && b.time_ns < kept_since_ns && b.time_ns >= since_ns) points.push_back(b);
  }
  for (std::size_t i = 0; i < recent_.size(); ++i) {
    const TimedValue& point = recent_[(oldest_ + i) % recent_.size()];
    if (point.time_ns >= since_ns) points.push_back(point);
  }
  return points;
}

}  // namespace vramscope
