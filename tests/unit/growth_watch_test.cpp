#include "monitor/growth_watch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace vramscope {
namespace {

constexpr double kMiB = 1 << 20;
constexpr std::int64_t kSecond = 1'000'000'000;

struct Watched {
  std::int64_t so_far_s = -1;  // first time of each state
  std::int64_t growing_s = -1;
  double rate_mib_hour = 0;  // when it was first called growing
  GrowthState last = GrowthState::none;
};

// `mib_at`: MiB at a second.
Watched watch(double hours, std::int64_t interval_s, const std::function<double(double)>& mib_at) {
  GrowthWatch growth;
  Watched run;
  for (std::int64_t t = 0; t < static_cast<std::int64_t>(hours * 3600); t += interval_s) {
    growth.add(t * kSecond, static_cast<std::int64_t>(mib_at(static_cast<double>(t)) * kMiB));
    const GrowthState state = growth.growth().state;
    if (state == GrowthState::so_far && run.so_far_s < 0) run.so_far_s = t;
    if (state == GrowthState::growing && run.growing_s < 0) {
      run.growing_s = t;
      run.rate_mib_hour = growth.growth().bytes_per_hour / kMiB;
    }
    run.last = state;
  }
  return run;
}

double sawtooth(double t, double period, double height) {
  const double x = std::fmod(t, period) / period;
  return x < 0.8 ? height * x / 0.8 : height * (1 - x) / 0.2;
}

TEST(GrowthWatch, SteadyRiseIsToldAfterTwentySamplesAndCertainAfterTenMinutes) {
  const Watched run = watch(1, 1, [](double t) { return 4000 + t; });
  EXPECT_EQ(run.so_far_s, 19);
  EXPECT_GE(run.growing_s, 600);
  EXPECT_LE(run.growing_s, 700);
  EXPECT_NEAR(run.rate_mib_hour, 3600, 40);
  EXPECT_EQ(run.last, GrowthState::growing);
}

TEST(GrowthWatch, AnyUnitOfRhythmIsNoGrowthOverADay) {
  for (const double period : {7.0, 30.0, 60.0, 120.0, 300.0, 600.0}) {
    const Watched run = watch(24, 1, [&](double t) { return 4000 + sawtooth(t, period, 8000); });
    EXPECT_LT(run.growing_s, 0) << period;
  }
}

TEST(GrowthWatch, LeakUnderASawtoothIsFoundAndItsRateIsThatOfTheTroughs) {
  const Watched run = watch(3, 1, [](double t) { return 6000 + t * 0.5 + sawtooth(t, 10, 2000); });
  EXPECT_GT(run.growing_s, 0);
  EXPECT_LT(run.growing_s, 1500);
  EXPECT_NEAR(run.rate_mib_hour, 1800, 100);
}

TEST(GrowthWatch, SlowLeakInStepsOfASegment) {
  const Watched run =
      watch(6, 1, [](double t) { return 8000 + 20 * std::floor(t * 100 / 3600 / 20) + sawtooth(t, 7, 2000); });
  EXPECT_GT(run.growing_s, 0);
  EXPECT_NEAR(run.rate_mib_hour, 100, 25);
}

TEST(GrowthWatch, WarmUpAndCachesThatFillAreWithdrawn) {
  const Watched warm_up = watch(24, 1, [](double t) { return t < 90 ? 2000 + t * 400 : 38000 + sawtooth(t, 5, 6000); });
  EXPECT_LT(warm_up.growing_s, 0);
  EXPECT_EQ(warm_up.last, GrowthState::none);
  for (const double time_constant : {60.0, 300.0}) {
    const Watched cache = watch(6, 1, [&](double t) { return 20000 * (1 - std::exp(-t / time_constant)); });
    EXPECT_LT(cache.growing_s, 0) << time_constant;
    EXPECT_EQ(cache.last, GrowthState::none);
  }
  const Watched slow_cache = watch(6, 1, [](double t) { return 20000 * (1 - std::exp(-t / 1800)); });
  EXPECT_EQ(slow_cache.last, GrowthState::none);
}

TEST(GrowthWatch, OneLongerInputAndStepsAreNoGrowth) {
  const Watched step = watch(24, 1, [](double t) { return t < 3600 ? 8000.0 : 16000.0; });
  EXPECT_LT(step.so_far_s, 0);
  EXPECT_LT(step.growing_s, 0);
  const Watched steps = watch(24, 1, [](double t) {
    return 1024.0 * (t < 180 ? 12 : t < 540 ? 16 : t < 1500 ? 19 : 21);
  });
  EXPECT_LT(steps.growing_s, 0);
}

TEST(GrowthWatch, NoiseOverADayIsNoGrowth) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> noise(-64, 64);
  EXPECT_LT(watch(24, 1, [&](double) { return 4000 + noise(random); }).growing_s, 0);
  // Steps up and down by chance.
  double level = 8000;
  std::uniform_real_distribution<double> part(-1, 1);
  EXPECT_LT(watch(24, 1,
                  [&](double) {
                    if (part(random) > 0.999) level = std::max(4000.0, level + 500 * part(random));
                    return level;
                  })
                .growing_s,
            0);
}

TEST(GrowthWatch, LeakThatBeginsLaterIsFoundAndOneThatStopsIsWithdrawn) {
  const Watched late =
      watch(8, 1, [](double t) { return 8000 + sawtooth(t, 30, 2000) + (t > 14400 ? (t - 14400) * 0.5 : 0); });
  EXPECT_GT(late.growing_s, 14400);
  EXPECT_LT(late.growing_s, 14400 + 1200);
  const Watched stops = watch(4, 1, [](double t) { return 4000 + std::min(t, 3600.0); });
  EXPECT_GT(stops.growing_s, 0);
  EXPECT_EQ(stops.last, GrowthState::none);
}

TEST(GrowthWatch, OtherIntervals) {
  const Watched minute = watch(12, 60, [](double t) { return 8000 + t * 0.3; });
  EXPECT_EQ(minute.so_far_s, 19 * 60);
  EXPECT_NEAR(minute.rate_mib_hour, 1080, 20);
}

TEST(GrowthWatch, TimesThatFallAreLeftOutAndARestartBeginsAnew) {
  GrowthWatch growth;
  for (int i = 0; i < 40; ++i) growth.add(i * kSecond, i * (50LL << 20));
  EXPECT_EQ(growth.growth().state, GrowthState::so_far);
  growth.add(5 * kSecond, 0);
  EXPECT_EQ(growth.growth().state, GrowthState::so_far);
  growth.add(41 * kSecond, 0);
  EXPECT_EQ(growth.growth().state, GrowthState::none);
}

}  // namespace
}  // namespace vramscope
