// The mean of the last half minute: right at any rhythm, and of that half minute alone.
#include "monitor/recent_mean.h"

#include <gtest/gtest.h>

namespace vramscope {

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

}  // namespace

TEST(RecentMean, GoesByTheLastHalfMinute) {
  RecentMean mean;
  EXPECT_FALSE(mean.window());
  for (int second = 0; second < 100; ++second) mean.add(second * kSecondNs, 90);
  // One look in ten is a spike.
  for (int second = 100; second <= 130; ++second) mean.add(second * kSecondNs, second % 10 == 5 ? 60 : 4);
  const auto window = mean.window();
  ASSERT_TRUE(window);
  EXPECT_TRUE(window->is_whole);
  EXPECT_EQ(window->since_ns, 100 * kSecondNs);
  EXPECT_EQ(window->count, 31);
  EXPECT_EQ(window->highest, 60);
  EXPECT_DOUBLE_EQ(window->mean, (3 * 60 + 28 * 4) / 31.0);
}

TEST(RecentMean, OfAFastRhythmHoldsAllOfTheHalfMinuteAfterHours) {
  RecentMean mean;
  constexpr std::int64_t kStepNs = 10'000'000;
  std::int64_t time_ns = 0;
  for (; time_ns < 7200 * kSecondNs; time_ns += kStepNs) mean.add(time_ns, 100);
  const std::int64_t begin_ns = time_ns;
  for (; time_ns <= begin_ns + 31 * kSecondNs; time_ns += kStepNs) mean.add(time_ns, 10);
  const auto window = mean.window();
  ASSERT_TRUE(window);
  EXPECT_TRUE(window->is_whole);
  EXPECT_DOUBLE_EQ(window->mean, 10);
  EXPECT_GE(window->count, 3000);
}

TEST(RecentMean, OfASlowRhythmAsksForSomeValues) {
  RecentMean mean;
  mean.add(0, 5);
  mean.add(60 * kSecondNs, 7);
  ASSERT_TRUE(mean.window());
  EXPECT_FALSE(mean.window()->is_whole);
  EXPECT_DOUBLE_EQ(mean.window()->mean, 6);
  for (int minute = 2; minute < 5; ++minute) mean.add(minute * 60 * kSecondNs, 6);
  EXPECT_TRUE(mean.window()->is_whole);
  EXPECT_EQ(mean.window()->count, 5);
  mean.add(kSecondNs, 100);  // a clock that went back
  EXPECT_EQ(mean.window()->highest, 7);
}

}  // namespace vramscope
