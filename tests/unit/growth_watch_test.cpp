#include "analysis/growth_watch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace vramscope {
namespace {

constexpr double kMiB = 1 << 20;
constexpr std::int64_t kSecond = 1'000'000'000;

struct Watched {
  int growing = 0;  // how often it was called so
  double last_rate_mib_hour = 0;
  std::int64_t over_s = -1;  // when it was last called over
  bool has_fallen = false;
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
    if (state == GrowthState::growing && run.last != state) ++run.growing;
    if (state == GrowthState::growing) run.last_rate_mib_hour = growth.growth().bytes_per_hour / kMiB;
    if (state == GrowthState::none && run.last == GrowthState::growing) {
      run.over_s = t;
      run.has_fallen = growth.growth().has_fallen;
    }
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

TEST(GrowthWatch, SlowSawtoothIsCalledGrowthOnceAtMostWhateverItsPeriod) {
  for (const double period : {900.0, 1800.0, 2700.0, 3600.0, 5400.0, 7200.0, 14400.0, 21600.0}) {
    const Watched run = watch(24, 1, [&](double t) { return 6000 + 4096 * std::fmod(t, period) / period; });
    EXPECT_EQ(run.growing, 1) << period;
    EXPECT_NEAR(static_cast<double>(run.over_s), period, period / 100 + 5);
    EXPECT_TRUE(run.has_fallen);
  }
}

TEST(GrowthWatch, FloorThatRisesUnderASlowSawtoothHasTheRateOfTheFloor) {
  const Watched run = watch(24, 1, [](double t) { return 6000 + 2048 * t / 3600 + 4096 * std::fmod(t, 7200) / 7200; });
  EXPECT_EQ(run.last, GrowthState::growing);
  EXPECT_LE(run.growing, 2);
  EXPECT_NEAR(run.last_rate_mib_hour, 2048, 100);
}

TEST(GrowthWatch, RateIsThatOfTheRiseAndNotOfTheRestBeforeIt) {
  for (const double rest : {0.0, 300.0, 600.0, 1200.0, 7200.0}) {
    for (const double rate : {512.0, 5120.0, 20480.0}) {
      const Watched run =
          watch(rest / 3600 + 1, 1, [&](double t) { return 6000 + std::max(0.0, t - rest) / 3600 * rate; });
      EXPECT_NEAR(run.rate_mib_hour, rate, rate / 50) << rest;
    }
  }
}

TEST(GrowthWatch, WhatWasGrownBelongsToItsTime) {
  GrowthWatch growth;
  for (int t = 0; t < 700; ++t) growth.add(t * kSecond, (6LL << 30) + t * 5 * (1LL << 30) / 3600);
  const Growth& now = growth.growth();
  ASSERT_EQ(now.state, GrowthState::growing);
  EXPECT_NEAR(static_cast<double>(now.grown_bytes) / static_cast<double>(now.grown_ns) * 3600e9, now.bytes_per_hour,
              now.bytes_per_hour / 100);
}

TEST(GrowthWatch, OneThatStopsIsOverWithinAQuarterOfAnHour) {
  for (const double hours : {0.5, 1.0, 3.0, 10.0}) {
    const Watched run = watch(hours + 5, 1, [&](double t) { return 6000 + 5120 * std::min(t / 3600, hours); });
    EXPECT_GT(run.over_s, 0);
    EXPECT_LT(static_cast<double>(run.over_s), hours * 3600 + 1200) << hours;
    EXPECT_FALSE(run.has_fallen);
  }
}

TEST(GrowthWatch, RateFollowsALeakThatGetsWorse) {
  const Watched run =
      watch(5, 1, [](double t) { return 6000 + (t < 14400 ? t * 512 / 3600 : 2048 + (t - 14400) * 8192 / 3600); });
  EXPECT_EQ(run.growing, 1);
  EXPECT_NEAR(run.last_rate_mib_hour, 8192, 200);
}

TEST(GrowthWatch, PauseForAnEvaluationIsNoEnd) {
  const Watched run = watch(12, 1, [](double t) {
    return 6000 + 1024 * (std::floor(t / 1800) * 1500 + std::min(std::fmod(t, 1800), 1500.0)) / 3600;
  });
  EXPECT_EQ(run.growing, 1);
  EXPECT_LT(run.over_s, 0);
}

TEST(GrowthWatch, MemoryAtRestIsNotCalledGrowing) {
  const Watched fills = watch(6, 1, [](double t) { return 6000 + 20480 * std::min(1.0, t / 600); });
  EXPECT_LT(fills.growing_s, 0);
  for (const double time_constant : {300.0, 600.0}) {
    EXPECT_LT(watch(6, 1, [&](double t) { return 20480 * (1 - std::exp(-t / time_constant)); }).growing_s, 0);
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
