// Rules pcie-degraded, ecc-errors, xid-errors, gpu-lost and unaccounted-memory.
#include <gtest/gtest.h>

#include "device_log_maker.h"

namespace vramscope {
namespace {

Source link(std::int64_t busy, std::int64_t generation, std::int64_t width, int samples = 10) {
  DeviceLogMaker log;
  for (int i = 0; i < samples; ++i) {
    log.moment();
    log.busy(0, busy);
    log.set(0, Metric::pcie_link_gen_current, generation);
    log.set(0, Metric::pcie_link_width_current, width);
  }
  return log.take();
}

TEST(RulePcieDegraded, IsAWarningAtAQuarterOfTheRate) {
  for (const auto& [generation, width] : {std::pair{4, 4}, std::pair{2, 16}, std::pair{3, 8}, std::pair{1, 1}}) {
    const Verdicts verdicts = judge_log("pcie-degraded", link(95, generation, width));
    ASSERT_EQ(verdicts.findings.size(), 1U) << generation << " " << width;
    EXPECT_EQ(verdicts.findings.front().severity, Severity::warning);
    EXPECT_EQ(evidence_of(verdicts.findings.front(), "highest generation while it works"), generation);
    EXPECT_EQ(evidence_of(verdicts.findings.front(), "most lanes while it works"), width);
  }
}

TEST(RulePcieDegraded, IsInfoAtHalfTheRateOrInOneMoment) {
  for (const Source& source : {link(95, 4, 8), link(95, 3, 16), link(95, 1, 16, 1)}) {
    const Verdicts verdicts = judge_log("pcie-degraded", source);
    ASSERT_EQ(verdicts.findings.size(), 1U);
    EXPECT_EQ(verdicts.findings.front().severity, Severity::info);
  }
}

TEST(RulePcieDegraded, IsSilentWhenFull) {
  EXPECT_TRUE(is_fine(judge_log("pcie-degraded", link(95, 4, 16))));
}

// The link wakes up a little after the work has begun.
TEST(RulePcieDegraded, IsSilentWhenTheLinkWakesUp) {
  DeviceLogMaker log;
  for (int i = 0; i < 10; ++i) {
    log.moment();
    log.busy(0, 95);
    log.set(0, Metric::pcie_link_gen_current, i < 2 ? 1 : 4);
    log.set(0, Metric::pcie_link_width_current, 16);
  }
  EXPECT_TRUE(is_fine(judge_log("pcie-degraded", log.take())));
}

TEST(RulePcieDegraded, IsSkippedWhileIdle) {
  EXPECT_TRUE(is_skipped(judge_log("pcie-degraded", link(3, 1, 16))));
}

Source counts(Metric metric, std::int64_t first, std::int64_t last) {
  DeviceLogMaker log;
  for (int i = 0; i < 4; ++i) {
    log.moment();
    log.set(0, Metric::ecc_errors_uncorrected_volatile_total, 0);
    log.set(0, metric, i < 2 ? first : last);
  }
  return log.take();
}

TEST(RuleEccErrors, RanksTheSigns) {
  const std::pair<Metric, Severity> signs[] = {
      {Metric::remapped_rows_failure, Severity::error},
      {Metric::ecc_errors_uncorrected_volatile_total, Severity::error},
      {Metric::remapped_rows_pending, Severity::warning},
      {Metric::retired_pages_pending, Severity::warning},
      {Metric::ecc_errors_uncorrected_aggregate_total, Severity::info},
      {Metric::remapped_rows_uncorrectable, Severity::info},
  };
  for (const auto& [metric, severity] : signs) {
    const Verdicts verdicts = judge_log("ecc-errors", counts(metric, 0, 2));
    ASSERT_EQ(verdicts.findings.size(), 1U) << info_of(metric).name;
    EXPECT_EQ(verdicts.findings.front().severity, severity) << info_of(metric).name;
  }
}

TEST(RuleEccErrors, TellsHowManyCameDuringTheLog) {
  const Verdicts verdicts = judge_log("ecc-errors", counts(Metric::ecc_errors_uncorrected_volatile_total, 3, 8));
  ASSERT_EQ(verdicts.findings.size(), 1U);
  EXPECT_EQ(evidence_of(verdicts.findings.front(), "uncorrected errors during the log"), 5);
}

TEST(RuleEccErrors, IsSilentWithoutErrorsAndWithSomeCorrected) {
  EXPECT_TRUE(is_fine(judge_log("ecc-errors", counts(Metric::ecc_errors_corrected_volatile_total, 0, 12))));
  EXPECT_TRUE(is_fine(judge_log("ecc-errors", counts(Metric::remapped_rows_correctable, 0, 1))));
  EXPECT_EQ(judge_log("ecc-errors", counts(Metric::ecc_errors_corrected_volatile_total, 0, 5000)).findings.size(), 1U);
}

TEST(RuleEccErrors, IsSkippedWhereNothingIsTold) {
  DeviceLogMaker log;
  log.moment();
  log.no_value(0, Metric::ecc_errors_uncorrected_volatile_total);
  EXPECT_TRUE(is_skipped(judge_log("ecc-errors", log.take())));
}

TEST(RuleXidErrors, TellsEachNumberOnce) {
  DeviceLogMaker log;
  for (const std::int64_t xid : {0, 31, 31, 79, 31}) {
    log.moment();
    log.set(0, Metric::xid_last, xid);
  }
  const Verdicts verdicts = judge_log("xid-errors", log.take());
  ASSERT_EQ(verdicts.findings.size(), 2U);
  EXPECT_EQ(verdicts.findings[0].severity, Severity::warning);  // 31: a fault of the program
  EXPECT_EQ(verdicts.findings[1].severity, Severity::error);    // 79: fell off the bus
}

TEST(RuleXidErrors, IsSilentWithoutAndSkippedWhereNotTold) {
  DeviceLogMaker log;
  log.moment();
  log.set(0, Metric::xid_last, 0);
  EXPECT_TRUE(is_fine(judge_log("xid-errors", log.take())));
  DeviceLogMaker untold;
  untold.moment();
  untold.busy(0, 10);
  EXPECT_TRUE(is_skipped(judge_log("xid-errors", untold.take())));
}

Source held(std::int64_t used, std::int64_t by_processes, const char* part = "table") {
  DeviceLogMaker log;
  for (int i = 0; i < 5; ++i) {
    log.moment();
    log.used(0, used);
    log.lists();
    if (by_processes != 0) log.use(0, 7, "python", by_processes);
  }
  return log.take(true, part);
}

TEST(RuleUnaccountedMemory, TellsWhatIsMissing) {
  const Verdicts verdicts = judge_log("unaccounted-memory", held(20 * kTestGib, 8 * kTestGib));
  ASSERT_EQ(verdicts.findings.size(), 1U);
  EXPECT_EQ(verdicts.findings.front().severity, Severity::warning);
  EXPECT_EQ(evidence_of(verdicts.findings.front(), "memory used"), 20.0 * kTestGib);
  EXPECT_EQ(evidence_of(verdicts.findings.front(), "held by processes that are told"), 8.0 * kTestGib);
}

TEST(RuleUnaccountedMemory, IsInfoWhereNoProcessIsListedAtAll) {
  const Verdicts verdicts = judge_log("unaccounted-memory", held(20 * kTestGib, 0));
  ASSERT_EQ(verdicts.findings.size(), 1U);
  EXPECT_EQ(verdicts.findings.front().severity, Severity::info);
}

TEST(RuleUnaccountedMemory, IsInfoWhereTheGpuDraws) {
  DeviceLogMaker log;
  log.moment();
  log.used(0, 4 * kTestGib);
  log.use(0, 7, "cosmic-comp", 400 << 20, LogProcessType::graphics);
  const Verdicts verdicts = judge_log("unaccounted-memory", log.take());
  ASSERT_EQ(verdicts.findings.size(), 1U);
  EXPECT_EQ(verdicts.findings.front().severity, Severity::info);
}

TEST(RuleGpuLost, TellsSinceWhen) {
  for (const bool comes_back : {false, true}) {
    DeviceLogMaker log;
    for (int i = 0; i < 10; ++i) {
      log.moment();
      log.busy(0, 95);
      const bool is_lost = i >= 6 && !(comes_back && i > 7);
      if (is_lost) log.builder().set(0, Metric::utilization_gpu, ValueState::lost, 0);
    }
    const Verdicts verdicts = judge_log("gpu-lost", log.take());
    ASSERT_EQ(verdicts.findings.size(), 1U);
    EXPECT_EQ(verdicts.findings.front().severity, Severity::error);
    EXPECT_STREQ(verdicts.findings.front().title, comes_back ? "GPU {gpu} was lost for a time" : "GPU {gpu} is lost");
  }
}

TEST(RuleGpuLost, TellsThatAResetIsNeeded) {
  DeviceLogMaker told;
  told.moment();
  told.busy(0, 0);
  told.builder().set(0, Metric::temperature_gpu, ValueState::failed, 16);
  DeviceLogMaker named;
  named.moment();
  named.set(0, Metric::gpu_recovery_action, 1);
  for (const Source& source : {told.take(), named.take()}) {
    const Verdicts verdicts = judge_log("gpu-lost", source);
    ASSERT_EQ(verdicts.findings.size(), 1U);
    EXPECT_STREQ(verdicts.findings.front().title, "GPU {gpu} needs a reset");
  }
}

TEST(RuleGpuLost, IsSilentWhereValuesAreMerelyMissing) {
  DeviceLogMaker log;
  log.moment();
  log.busy(0, 95);
  log.no_value(0, Metric::fan_speed);
  log.set(0, Metric::gpu_recovery_action, 0);
  log.builder().set(0, Metric::power_draw, ValueState::failed, 999);
  EXPECT_TRUE(is_fine(judge_log("gpu-lost", log.take())));
}

TEST(RuleGpuLost, IsSkippedWithoutValues) {
  DeviceLogBuilder builder;
  builder.add_device({});
  Source source;
  source.device_log = builder.take(LogClock::none, "csv");
  EXPECT_TRUE(is_skipped(judge_log("gpu-lost", source)));
}

TEST(RuleUnaccountedMemory, IsSilentWhenProcessesAccountForIt) {
  EXPECT_TRUE(is_fine(judge_log("unaccounted-memory", held(20 * kTestGib, 20 * kTestGib - (600 << 20)))));
  EXPECT_TRUE(is_fine(judge_log("unaccounted-memory", held(500 << 20, 0))));
  // Between two readings a process starts.
  DeviceLogMaker log;
  for (int i = 0; i < 10; ++i) {
    log.moment();
    log.used(0, i < 5 ? kTestGib / 2 : 10 * kTestGib);
    log.lists();
    if (i > 5) log.use(0, 7, "python", 10 * kTestGib - (500 << 20));
  }
  EXPECT_TRUE(is_fine(judge_log("unaccounted-memory", log.take())));
}

TEST(RuleUnaccountedMemory, IsSkippedWhereListsAreMissingPartialOrUntold) {
  DeviceLogMaker log;
  log.moment();
  log.used(0, 20 * kTestGib);
  EXPECT_TRUE(is_skipped(judge_log("unaccounted-memory", log.take())));
  EXPECT_TRUE(is_skipped(judge_log("unaccounted-memory", held(20 * kTestGib, 8 * kTestGib, "csv"))));
  EXPECT_TRUE(is_skipped(judge_log("unaccounted-memory", held(20 * kTestGib, -1))));
}

}  // namespace
}  // namespace vramscope
