#include <gtest/gtest.h>

#include "device_log_maker.h"

namespace vramscope {
namespace {

constexpr const char* kRule = "full-but-idle";

// So many seconds with this memory and utilisation.
void pass(DeviceLogMaker& log, int seconds, std::int64_t used, std::int64_t busy, const char* process = nullptr) {
  for (int i = 0; i < seconds; ++i) {
    log.moment();
    log.used(0, used);
    log.busy(0, busy);
    if (process != nullptr) log.use(0, 7, process, used);
  }
}

TEST(RuleFullButIdle, TellsHowLongAndHowIdle) {
  DeviceLogMaker log;
  pass(log, 300, 23 * kTestGib, 3);
  const Verdicts verdicts = judge_log(kRule, log.take());
  ASSERT_EQ(verdicts.findings.size(), 1U);
  const Finding& finding = verdicts.findings.front();
  EXPECT_EQ(finding.severity, Severity::warning);
  EXPECT_EQ(evidence_of(finding, "mean utilisation, percent"), 3);
  EXPECT_EQ(evidence_of(finding, "looked for"), 300e9);
  EXPECT_EQ(evidence_of(finding, "least memory used then"), 23.0 * kTestGib);
}

TEST(RuleFullButIdle, CountsSamplesWithoutTimes) {
  DeviceLogMaker log;
  pass(log, 60, 23 * kTestGib, 3);
  const Verdicts verdicts = judge_log(kRule, log.take(false));
  ASSERT_EQ(verdicts.findings.size(), 1U);
  EXPECT_EQ(evidence_of(verdicts.findings.front(), "samples looked at"), 60);
  EXPECT_EQ(evidence_of(verdicts.findings.front(), "looked for"), -1);
}

// Loading a model takes a while; then it works.
TEST(RuleFullButIdle, IsNoMoreThanInfoWhenTheRunStarts) {
  DeviceLogMaker log;
  pass(log, 60, 23 * kTestGib, 0);
  pass(log, 600, 23 * kTestGib, 97);
  for (const Finding& finding : judge_log(kRule, log.take()).findings) EXPECT_EQ(finding.severity, Severity::info);
}

TEST(RuleFullButIdle, IsNoMoreThanInfoForAServer) {
  DeviceLogMaker log;
  pass(log, 600, 23 * kTestGib, 0, "/usr/bin/python -m vllm.entrypoints.openai.api_server");
  const Verdicts verdicts = judge_log(kRule, log.take());
  ASSERT_EQ(verdicts.findings.size(), 1U);
  EXPECT_EQ(verdicts.findings.front().severity, Severity::info);
}

TEST(RuleFullButIdle, IsSilentWhenItWorksOrHasRoom) {
  DeviceLogMaker busy;
  pass(busy, 300, 23 * kTestGib, 60);
  EXPECT_TRUE(is_fine(judge_log(kRule, busy.take())));
  DeviceLogMaker roomy;
  pass(roomy, 300, 12 * kTestGib, 0);
  EXPECT_TRUE(is_fine(judge_log(kRule, roomy.take())));
}

// What lies between two readings that are an hour apart is not known.
TEST(RuleFullButIdle, LooksNotAcrossGaps) {
  DeviceLogMaker log;
  pass(log, 20, 23 * kTestGib, 0);
  log.moment(3600 * kTestSecond);
  pass(log, 20, 23 * kTestGib, 0);
  EXPECT_TRUE(is_skipped(judge_log(kRule, log.take())));
}

// Some imitations tell what is free in place of the size.
TEST(RuleFullButIdle, TakesUsedAndFreeForTheSize) {
  DeviceLogMaker log;
  log.no_value(0, Metric::memory_total);
  for (int i = 0; i < 100; ++i) {
    log.moment();
    log.used(0, 23 * kTestGib);
    log.set(0, Metric::memory_free, kTestGib);
    log.busy(0, 0);
  }
  EXPECT_EQ(judge_log(kRule, log.take()).findings.size(), 1U);
}

TEST(RuleFullButIdle, IsSkippedWithOneMomentOrWithoutSize) {
  DeviceLogMaker log;
  pass(log, 1, 23 * kTestGib, 0);
  EXPECT_TRUE(is_skipped(judge_log(kRule, log.take())));
  DeviceLogMaker unsized;
  unsized.no_value(0, Metric::memory_total);
  pass(unsized, 100, 23 * kTestGib, 0);
  EXPECT_TRUE(is_skipped(judge_log(kRule, unsized.take())));
}

}  // namespace
}  // namespace vramscope
