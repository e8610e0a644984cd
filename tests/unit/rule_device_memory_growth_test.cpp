#include <gtest/gtest.h>

#include "device_log_maker.h"

namespace vramscope {
namespace {

constexpr std::int64_t kMib = 1 << 20;
constexpr const char* kRule = "device-memory-growth";

// 4 GiB, and so many MiB more with each sample of 5 s.
Source growing(std::int64_t mib, int samples, bool lists_processes) {
  DeviceLogMaker log;
  for (int i = 0; i < samples; ++i) {
    log.moment(5 * kTestSecond);
    const std::int64_t bytes = 4 * kTestGib + i * mib * kMib;
    log.used(0, bytes);
    if (lists_processes) log.use(0, 42, "python train.py", bytes - 500 * kMib);
  }
  return log.take();
}

TEST(RuleDeviceMemoryGrowth, TellsTheRateOfTheDevice) {
  const Verdicts verdicts = judge_log(kRule, growing(10, 360, false));
  ASSERT_EQ(verdicts.findings.size(), 1U);
  const Finding& finding = verdicts.findings.front();
  // 10 MiB in 5 s are 7200 MiB an hour; 24 - 4 - 3590/1024 GiB are left: 2.35 hours.
  EXPECT_NEAR(evidence_of(finding, "growth"), 7200.0 * kMib, 100.0 * kMib);
  EXPECT_NEAR(evidence_of(finding, "time until the memory is full"), (20.0 * 1024 - 3590) / 7200 * 3600e9, 300e9);
  EXPECT_EQ(finding.severity, Severity::warning);
}

TEST(RuleDeviceMemoryGrowth, NamesTheProcess) {
  const Verdicts verdicts = judge_log(kRule, growing(10, 360, true));
  ASSERT_EQ(verdicts.findings.size(), 1U);
  bool is_named = false;
  for (const auto& [name, value] : verdicts.findings.front().arguments) {
    is_named = is_named || (name == "process" && std::get<std::string>(value.data) == "python train.py 42");
  }
  EXPECT_TRUE(is_named);
}

TEST(RuleDeviceMemoryGrowth, IsAnErrorWhenSoonFull) {
  // 56 MiB in 5 s for 30 min: 19.6 GiB grown, 0.37 GiB left.
  const Verdicts verdicts = judge_log(kRule, growing(56, 360, false));
  ASSERT_EQ(verdicts.findings.size(), 1U);
  EXPECT_EQ(verdicts.findings.front().severity, Severity::error);
}

TEST(RuleDeviceMemoryGrowth, TellsOfAProcessThatGrewUntilItEnded) {
  DeviceLogMaker log;
  for (int i = 0; i < 600; ++i) {
    log.moment(5 * kTestSecond);
    const bool runs = i < 400;
    log.used(0, runs ? kTestGib + i * 10 * kMib : kTestGib);
    log.lists();
    if (runs) log.use(0, 42, "python", kTestGib / 2 + i * 10 * kMib);
  }
  const Verdicts verdicts = judge_log(kRule, log.take());
  ASSERT_EQ(verdicts.findings.size(), 1U);
  EXPECT_EQ(evidence_of(verdicts.findings.front(), "time until the memory is full"), -1);
}

TEST(RuleDeviceMemoryGrowth, TellsThatTheMemoryBecameFull) {
  DeviceLogMaker log;
  for (int i = 0; i < 500; ++i) {
    log.moment(5 * kTestSecond);
    log.used(0, i < 400 ? 2 * kTestGib + i * 56 * kMib : kTestGib / 2);
  }
  const Verdicts verdicts = judge_log(kRule, log.take());
  ASSERT_EQ(verdicts.findings.size(), 1U);
  EXPECT_EQ(verdicts.findings.front().severity, Severity::error);
}

TEST(RuleDeviceMemoryGrowth, IsSilentWhenLevelAfterAWarmUp) {
  DeviceLogMaker log;
  for (int i = 0; i < 720; ++i) {
    log.moment(5 * kTestSecond);
    log.used(0, 4 * kTestGib + std::min(i, 40) * 100 * kMib);
  }
  EXPECT_TRUE(is_fine(judge_log(kRule, log.take())));
}

TEST(RuleDeviceMemoryGrowth, IsSilentOnASawtooth) {
  DeviceLogMaker log;
  for (int i = 0; i < 720; ++i) {
    log.moment(5 * kTestSecond);
    log.used(0, 4 * kTestGib + i % 60 * 50 * kMib);
  }
  EXPECT_TRUE(is_fine(judge_log(kRule, log.take())));
}

// One program after another is no leak.
TEST(RuleDeviceMemoryGrowth, IsSilentWhenMoreProcessesCome) {
  DeviceLogMaker log;
  for (int i = 0; i < 720; ++i) {
    log.moment(5 * kTestSecond);
    const std::int64_t processes = 1 + i / 20;
    log.used(0, processes * 400 * kMib);
    for (std::int64_t pid = 1; pid <= processes; ++pid) log.use(0, pid, "python", 400 * kMib);
  }
  EXPECT_TRUE(is_fine(judge_log(kRule, log.take())));
}

TEST(RuleDeviceMemoryGrowth, IsSkippedWithoutTimesMemoryOrLength) {
  DeviceLogMaker log;
  for (int i = 0; i < 300; ++i) {
    log.moment();
    log.used(0, kTestGib + i * 10 * kMib);
  }
  EXPECT_TRUE(is_skipped(judge_log(kRule, log.take(false))));
  DeviceLogMaker other;
  for (int i = 0; i < 300; ++i) {
    other.moment(5 * kTestSecond);
    other.busy(0, 50);
  }
  EXPECT_TRUE(is_skipped(judge_log(kRule, other.take())));
  EXPECT_TRUE(is_skipped(judge_log(kRule, growing(10, 60, false))));
}

}  // namespace
}  // namespace vramscope
