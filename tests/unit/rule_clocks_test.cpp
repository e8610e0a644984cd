// Rules throttled, power-capped and clocks-low: what each tells of the same clocks, and what it leaves to the others.
#include <gtest/gtest.h>

#include "analysis/clock_reason_bits.h"
#include "device_log_maker.h"

namespace vramscope {
namespace {

using namespace clock_reason;

struct Load {
  std::int64_t reasons = 0;
  std::int64_t clock = 1900;
  std::int64_t busy = 100;
  std::int64_t power = 200'000;
};

void pass(DeviceLogMaker& log, int seconds, const Load& load) {
  for (int i = 0; i < seconds; ++i) {
    log.moment();
    log.busy(0, load.busy);
    log.set(0, Metric::clocks_event_reasons_active, load.reasons);
    log.set(0, Metric::clocks_current_sm, load.clock);
    log.set(0, Metric::power_draw, load.power);
  }
}

Source one_load(const Load& load, int seconds = 100) {
  DeviceLogMaker log;
  pass(log, seconds, load);
  return log.take();
}

TEST(RuleThrottled, TellsTheShareOfTheTime) {
  DeviceLogMaker log;
  pass(log, 75, {});
  pass(log, 25, {kHwSlowdown | kHwThermal, 1100});
  const Verdicts verdicts = judge_log("throttled", log.take());
  ASSERT_EQ(verdicts.findings.size(), 1U);
  EXPECT_EQ(verdicts.findings.front().severity, Severity::error);
  EXPECT_NEAR(evidence_of(verdicts.findings.front(), "share of the time"), 0.25, 1e-9);
}

TEST(RuleThrottled, WeighsByTimeAndNotBySamples) {
  DeviceLogMaker log;
  pass(log, 50, {});
  for (int i = 0; i < 50; ++i) {
    log.moment(2 * kTestSecond);
    log.set(0, Metric::clocks_event_reasons_active, kSwThermal);
  }
  const Verdicts verdicts = judge_log("throttled", log.take());
  ASSERT_EQ(verdicts.findings.size(), 1U);
  // 49 samples of 1 s and one of 2 s without, 49 of 2 s and the last, of the usual 2 s, with.
  EXPECT_NEAR(evidence_of(verdicts.findings.front(), "share of the time"), 100.0 / 151, 1e-9);
}

TEST(RuleThrottled, TakesTheFlagsOfALogWithoutAMask) {
  DeviceLogMaker log;
  for (int i = 0; i < 10; ++i) {
    log.moment();
    log.set(0, Metric::clocks_event_reasons_hw_power_brake_slowdown, 1);
    log.set(0, Metric::clocks_event_reasons_gpu_idle, 0);
  }
  EXPECT_EQ(judge_log("throttled", log.take()).findings.size(), 1U);
}

TEST(RuleThrottled, IsAWarningAtMostInOneMoment) {
  const Verdicts verdicts = judge_log("throttled", one_load({kHwThermal | kHwSlowdown}, 1));
  ASSERT_EQ(verdicts.findings.size(), 1U);
  EXPECT_EQ(verdicts.findings.front().severity, Severity::warning);
}

TEST(RuleThrottled, IsSilentOnWhatIsNoThrottling) {
  for (const std::int64_t bits : {std::int64_t{0}, kIdle, kApplicationClocks, kSwPowerCap}) {
    EXPECT_TRUE(is_fine(judge_log("throttled", one_load({bits})))) << bits;
  }
  DeviceLogMaker rare;
  pass(rare, 98, {});
  pass(rare, 2, {kSwThermal});
  EXPECT_TRUE(is_fine(judge_log("throttled", rare.take())));
}

TEST(RuleThrottled, IsSkippedWithoutReasons) {
  DeviceLogMaker log;
  log.moment();
  log.busy(0, 100);
  EXPECT_TRUE(is_skipped(judge_log("throttled", log.take())));
}

TEST(RulePowerCapped, IsInfoAtTheCardsOwnLimit) {
  const Verdicts verdicts = judge_log("power-capped", one_load({kSwPowerCap, 1700}));
  ASSERT_EQ(verdicts.findings.size(), 1U);
  EXPECT_EQ(verdicts.findings.front().severity, Severity::info);
}

TEST(RulePowerCapped, IsAWarningWhereTheLimitWasLoweredAndClocksFell) {
  DeviceLogMaker log;
  log.set(0, Metric::enforced_power_limit, 150'000);
  pass(log, 100, {kSwPowerCap, 1200, 100, 150'000});
  const Verdicts verdicts = judge_log("power-capped", log.take());
  ASSERT_EQ(verdicts.findings.size(), 1U);
  EXPECT_EQ(verdicts.findings.front().severity, Severity::warning);
  EXPECT_EQ(evidence_of(verdicts.findings.front(), "power limit, W"), 150);
  EXPECT_EQ(evidence_of(verdicts.findings.front(), "power limit by default, W"), 300);
}

TEST(RulePowerCapped, GoesByThePowerWhereNoReasonIsTold) {
  DeviceLogMaker log;
  for (int i = 0; i < 20; ++i) {
    log.moment();
    log.busy(0, 100);
    log.set(0, Metric::power_draw, 298'000);
  }
  EXPECT_EQ(judge_log("power-capped", log.take()).findings.size(), 1U);
}

TEST(RulePowerCapped, IsSilentBelowTheLimit) {
  EXPECT_TRUE(is_fine(judge_log("power-capped", one_load({}))));
  DeviceLogMaker lowered;
  lowered.set(0, Metric::enforced_power_limit, 250'000);
  pass(lowered, 100, {0, 1900, 100, 200'000});
  EXPECT_TRUE(is_fine(judge_log("power-capped", lowered.take())));
}

TEST(RulePowerCapped, IsSkippedWithoutLoad) {
  EXPECT_TRUE(is_skipped(judge_log("power-capped", one_load({kSwPowerCap, 300, 10, 20'000}))));
}

TEST(RuleClocksLow, TellsMedianAndHighest) {
  const Verdicts verdicts = judge_log("clocks-low", one_load({0, 600}));
  ASSERT_EQ(verdicts.findings.size(), 1U);
  EXPECT_EQ(verdicts.findings.front().severity, Severity::warning);
  EXPECT_EQ(evidence_of(verdicts.findings.front(), "median SM clock under full load, MHz"), 600);
}

TEST(RuleClocksLow, IsInfoWhereSomebodySetThem) {
  const Verdicts verdicts = judge_log("clocks-low", one_load({kApplicationClocks, 900}));
  ASSERT_EQ(verdicts.findings.size(), 1U);
  EXPECT_EQ(verdicts.findings.front().severity, Severity::info);
}

TEST(RuleClocksLow, IsSilentWhereAnotherRuleTellsWhy) {
  EXPECT_TRUE(is_fine(judge_log("clocks-low", one_load({kSwPowerCap, 900}))));
  EXPECT_TRUE(is_fine(judge_log("clocks-low", one_load({kHwThermal, 900}))));
  EXPECT_TRUE(is_fine(judge_log("clocks-low", one_load({0, 900, 100, 299'000}))));
  EXPECT_TRUE(is_fine(judge_log("clocks-low", one_load({0, 1500}))));
}

// Clocks are low while there is little to do, as they should be.
TEST(RuleClocksLow, IsSkippedWithoutFullLoad) {
  EXPECT_TRUE(is_skipped(judge_log("clocks-low", one_load({kIdle, 210, 30, 20'000}))));
}

}  // namespace
}  // namespace vramscope
