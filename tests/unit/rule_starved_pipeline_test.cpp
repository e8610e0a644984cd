#include <gtest/gtest.h>

#include "device_log_maker.h"

namespace vramscope {
namespace {

constexpr const char* kRule = "starved-pipeline";

// 4 s of work, 6 s of waiting, again and again.
Source starved(const char* process, LogProcessType type = LogProcessType::compute,
               std::int64_t rhythm_ns = kTestSecond) {
  DeviceLogMaker log;
  for (int i = 0; i < 300; ++i) {
    log.moment(rhythm_ns);
    log.busy(0, i % 10 < 4 ? 95 : 0);
    log.used(0, 12 * kTestGib);
    if (process != nullptr) log.use(0, 7, process, 11 * kTestGib, type);
  }
  return log.take();
}

TEST(RuleStarvedPipeline, TellsShareAndMean) {
  const Verdicts verdicts = judge_log(kRule, starved("python train.py"));
  ASSERT_EQ(verdicts.findings.size(), 1U);
  const Finding& finding = verdicts.findings.front();
  EXPECT_EQ(finding.severity, Severity::warning);
  EXPECT_EQ(evidence_of(finding, "mean utilisation, percent"), 38);
  EXPECT_NEAR(evidence_of(finding, "share of the time at 20 % or below"), 0.6, 1e-9);
  EXPECT_EQ(evidence_of(finding, "falls from work to rest"), 30);
}

TEST(RuleStarvedPipeline, IsNoMoreThanInfoForAServer) {
  const Verdicts verdicts = judge_log(kRule, starved("ollama_llama_server"));
  ASSERT_EQ(verdicts.findings.size(), 1U);
  EXPECT_EQ(verdicts.findings.front().severity, Severity::info);
}

TEST(RuleStarvedPipeline, IsSilentForADesktop) {
  EXPECT_TRUE(is_fine(judge_log(kRule, starved("/usr/lib/xorg/Xorg", LogProcessType::graphics))));
}

TEST(RuleStarvedPipeline, IsSilentWhenSteadyOrWhenMemoryMoves) {
  DeviceLogMaker steady;
  DeviceLogMaker moving;
  for (int i = 0; i < 300; ++i) {
    steady.moment();
    steady.busy(0, 80 + i % 10);
    steady.used(0, 12 * kTestGib);
    moving.moment();
    moving.busy(0, i % 10 < 4 ? 95 : 0);
    moving.used(0, (i % 10 < 4 ? 12 : 6) * kTestGib);
  }
  EXPECT_TRUE(is_fine(judge_log(kRule, steady.take())));
  EXPECT_TRUE(is_fine(judge_log(kRule, moving.take())));
}

// A long run with a pause for a checkpoint every two minutes.
TEST(RuleStarvedPipeline, IsSilentWithRarePauses) {
  DeviceLogMaker log;
  for (int i = 0; i < 1200; ++i) {
    log.moment();
    log.busy(0, i % 120 < 10 ? 0 : 98);
    log.used(0, 12 * kTestGib);
  }
  EXPECT_TRUE(is_fine(judge_log(kRule, log.take())));
}

TEST(RuleStarvedPipeline, IsSkippedWhenSamplesAreFarApartOrFew) {
  EXPECT_TRUE(is_skipped(judge_log(kRule, starved(nullptr, LogProcessType::compute, 30 * kTestSecond))));
  DeviceLogMaker log;
  for (int i = 0; i < 20; ++i) {
    log.moment();
    log.busy(0, i % 2 * 95);
    log.used(0, 12 * kTestGib);
  }
  EXPECT_TRUE(is_skipped(judge_log(kRule, log.take())));
}

}  // namespace
}  // namespace vramscope
