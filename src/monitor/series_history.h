#pragma once
// One value over time in bounded memory: the last samples as they were, all before them thinned out.
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace vramscope {

struct TimedValue {
  std::int64_t time_ns = 0;
  std::int64_t value = 0;
};

// At most about 14 KiB, or 8 KiB of a brief one.
class SeriesHistory {
 public:
  static constexpr std::size_t kRecent = 128;        // samples kept as they were
  static constexpr std::size_t kBuckets = 256;       // of the whole time; their width doubles when they are full
  static constexpr std::size_t kBriefBuckets = 128;  // enough where hundreds of series are kept

  // `most_buckets` is even.
  explicit SeriesHistory(std::size_t most_buckets = kBuckets) : most_buckets_(most_buckets) {}
  // Times do not fall; a time that does is left out.
  void add(std::int64_t time_ns, std::int64_t value);
  bool empty() const { return count_ == 0; }
  std::int64_t count() const { return count_; }
  std::optional<TimedValue> last() const;
  std::optional<TimedValue> first() const;
  // The lowest and the highest value since `since_ns`, from whole buckets where samples are no longer kept.
  std::optional<std::pair<std::int64_t, std::int64_t>> range_since(std::int64_t since_ns) const;
  // In order of time, for a curve: samples where they are kept, before them the lowest and highest of each bucket.
  std::vector<TimedValue> points_since(std::int64_t since_ns) const;

 private:
  struct Bucket {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;  // time of its last sample
    TimedValue lowest, highest;
  };
  static constexpr std::int64_t kNarrowestNs = 1'000'000;
  static constexpr std::int64_t kWidestFirstNs = 1'000'000'000;

  void add_to_buckets(const TimedValue& point);

  std::size_t most_buckets_;
  std::vector<TimedValue> recent_;  // a ring once it is full
  std::size_t oldest_ = 0;
  std::vector<Bucket> buckets_;
  std::int64_t bucket_ns_ = kWidestFirstNs;
  std::int64_t count_ = 0;
};

}  // namespace vramscope
