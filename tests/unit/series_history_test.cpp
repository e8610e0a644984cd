#include "monitor/series_history.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace vramscope {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(SeriesHistory, KeepsEveryExtremeOfADay) {
  SeriesHistory history;
  for (std::int64_t t = 0; t < 86'400; ++t) {
    std::int64_t value = 1000 + t % 10;
    if (t == 40'000) value = 9'999;
    if (t == 50'000) value = 3;
    history.add(t * kSecond, value);
  }
  EXPECT_EQ(history.count(), 86'400);
  const auto range = history.range_since(0);
  ASSERT_TRUE(range);
  EXPECT_EQ(*range, std::make_pair(std::int64_t{3}, std::int64_t{9'999}));
  const auto points = history.points_since(0);
  EXPECT_LE(points.size(), 2 * SeriesHistory::kBuckets + SeriesHistory::kRecent);
  EXPECT_TRUE(std::is_sorted(points.begin(), points.end(),
                             [](const TimedValue& a, const TimedValue& b) { return a.time_ns < b.time_ns; }));
  const auto peak = std::find_if(points.begin(), points.end(), [](const TimedValue& p) { return p.value == 9'999; });
  ASSERT_NE(peak, points.end());
  EXPECT_EQ(peak->time_ns, 40'000 * kSecond);
  // The last samples are all there.
  EXPECT_EQ(history.points_since((86'400 - 100) * kSecond).size(), 100U);
  EXPECT_EQ(history.last()->value, 1000 + 86'399 % 10);
}

TEST(SeriesHistory, ABriefOneKeepsExtremesToo) {
  SeriesHistory history(SeriesHistory::kBriefBuckets);
  for (std::int64_t t = 0; t < 86'400; ++t) history.add(t * kSecond, t == 40'000 ? 9'999 : 1000 + t % 10);
  EXPECT_EQ(*history.range_since(0), std::make_pair(std::int64_t{1000}, std::int64_t{9'999}));
  EXPECT_LE(history.points_since(0).size(), 2 * SeriesHistory::kBriefBuckets + SeriesHistory::kRecent);
  EXPECT_EQ(history.first()->time_ns, 0);
}

TEST(SeriesHistory, EmptyAndTimesThatFall) {
  SeriesHistory history;
  EXPECT_FALSE(history.last());
  EXPECT_FALSE(history.range_since(0));
  history.add(5 * kSecond, 1);
  history.add(4 * kSecond, 2);
  EXPECT_EQ(history.count(), 1);
  history.add(5 * kSecond, 3);
  EXPECT_EQ(history.range_since(5 * kSecond)->second, 3);
  EXPECT_FALSE(history.range_since(6 * kSecond));
}

TEST(SeriesHistory, GapsBetweenSamples) {
  SeriesHistory history;
  for (std::int64_t i = 0; i < 2000; ++i) history.add(i * i * kSecond, i);
  EXPECT_EQ(history.first()->value, 0);
  EXPECT_EQ(history.range_since(0)->first, 0);
  EXPECT_EQ(history.range_since(1999 * 1999 * kSecond)->first, 1999);
}

}  // namespace
}  // namespace vramscope
