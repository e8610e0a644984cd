// Rules idle-in-busy-job and uneven-devices.
#include <gtest/gtest.h>

#include "device_log_maker.h"

namespace vramscope {
namespace {

struct Gpu {
  std::int64_t busy = 0;
  std::int64_t used = 0;
  std::int64_t pid = 0;
  const char* name = "";
};

Source job(const std::vector<Gpu>& gpus, int seconds = 300) {
  DeviceLogMaker log(static_cast<std::uint32_t>(gpus.size()));
  for (int i = 0; i < seconds; ++i) {
    log.moment();
    for (std::uint32_t at = 0; at < gpus.size(); ++at) {
      log.busy(at, gpus[at].busy);
      log.used(at, gpus[at].used);
      if (gpus[at].pid != 0) log.use(at, gpus[at].pid, gpus[at].name, gpus[at].used);
    }
  }
  return log.take();
}

TEST(RuleIdleInBusyJob, TellsOfAGpuThatOneProcessHoldsAndLeaves) {
  const Verdicts verdicts =
      judge_log("idle-in-busy-job", job({{95, 10 * kTestGib, 7, "python"}, {0, 10 * kTestGib, 7, "python"}}));
  ASSERT_EQ(verdicts.findings.size(), 1U);
  EXPECT_EQ(verdicts.findings.front().severity, Severity::warning);
  EXPECT_EQ(evidence_of(verdicts.findings.front(), "mean utilisation, percent"), 0);
  EXPECT_EQ(evidence_of(verdicts.findings.front(), "mean utilisation of the busiest other GPU, percent"), 95);
}

TEST(RuleIdleInBusyJob, TellsOfARankThatHangs) {
  const Verdicts verdicts = judge_log(
      "idle-in-busy-job",
      job({{95, 10 * kTestGib, 7, "python"}, {95, 10 * kTestGib, 8, "python"}, {0, 9 * kTestGib, 9, "python"}}));
  ASSERT_EQ(verdicts.findings.size(), 1U);
}

TEST(RuleIdleInBusyJob, IsInfoWhereMemoryAloneIsTheSign) {
  const Verdicts verdicts = judge_log("idle-in-busy-job", job({{95, 10 * kTestGib}, {0, 10 * kTestGib}}));
  ASSERT_EQ(verdicts.findings.size(), 1U);
  EXPECT_EQ(verdicts.findings.front().severity, Severity::info);
}

TEST(RuleIdleInBusyJob, IsSilentForOtherJobsFreeGpusAndContexts) {
  const std::int64_t kContext = 400 << 20;
  // Another program, another size: another job.
  EXPECT_TRUE(
      is_fine(judge_log("idle-in-busy-job", job({{95, 10 * kTestGib, 7, "python"}, {0, 9 * kTestGib, 8, "jupyter"}}))));
  EXPECT_TRUE(
      is_fine(judge_log("idle-in-busy-job", job({{95, 20 * kTestGib, 7, "python"}, {0, 4 * kTestGib, 8, "python"}}))));
  // Nobody holds the other one, on purpose.
  EXPECT_TRUE(is_fine(judge_log("idle-in-busy-job", job({{95, 20 * kTestGib, 7, "python"}, {0, 10 << 20}}))));
  // A process opened a context there in passing.
  EXPECT_TRUE(
      is_fine(judge_log("idle-in-busy-job", job({{95, 20 * kTestGib, 7, "python"}, {0, kContext, 7, "python"}}))));
  EXPECT_TRUE(is_fine(judge_log("idle-in-busy-job", job({{95, 20 * kTestGib}, {0, 4 * kTestGib}}))));
}

TEST(RuleIdleInBusyJob, IsSkippedForOneGpuAndForSeveralMachines) {
  EXPECT_TRUE(is_skipped(judge_log("idle-in-busy-job", job({{95, 10 * kTestGib, 7, "python"}}))));
  Source mixed = job({{95, 10 * kTestGib}, {0, 10 * kTestGib}});
  mixed.device_log->devices[1].index = 0;
  EXPECT_TRUE(is_skipped(judge_log("idle-in-busy-job", mixed)));
  EXPECT_TRUE(is_skipped(judge_log("idle-in-busy-job", job({{95, 10 * kTestGib}, {0, 10 * kTestGib}}, 10))));
}

TEST(RuleUnevenDevices, TellsLeastAndMost) {
  const Verdicts verdicts = judge_log(
      "uneven-devices",
      job({{90, 10 * kTestGib, 7, "python"}, {88, 10 * kTestGib, 8, "python"}, {40, 10 * kTestGib, 9, "python"}}));
  ASSERT_EQ(verdicts.findings.size(), 1U);
  EXPECT_EQ(verdicts.findings.front().severity, Severity::warning);
  EXPECT_EQ(evidence_of(verdicts.findings.front(), "mean utilisation, percent"), 40);
  EXPECT_EQ(evidence_of(verdicts.findings.front(), "mean utilisation of the busiest other GPU, percent"), 90);
}

TEST(RuleUnevenDevices, TellsOfMemoryOnTheFirstGpuOfOneProcess) {
  const Verdicts verdicts =
      judge_log("uneven-devices", job({{90, 22 * kTestGib, 7, "python"}, {88, 10 * kTestGib, 7, "python"}}));
  ASSERT_EQ(verdicts.findings.size(), 1U);
  EXPECT_EQ(verdicts.findings.front().severity, Severity::info);
  EXPECT_EQ(evidence_of(verdicts.findings.front(), "most memory used"), 22.0 * kTestGib);
}

TEST(RuleUnevenDevices, IsSilentWhenEvenOrOfTwoJobs) {
  EXPECT_TRUE(
      is_fine(judge_log("uneven-devices", job({{90, 10 * kTestGib, 7, "python"}, {80, 10 * kTestGib, 8, "python"}}))));
  EXPECT_TRUE(
      is_fine(judge_log("uneven-devices", job({{90, 10 * kTestGib, 7, "python"}, {40, 3 * kTestGib, 8, "blender"}}))));
  // There is room everywhere.
  EXPECT_TRUE(
      is_fine(judge_log("uneven-devices", job({{90, 9 * kTestGib, 7, "python"}, {88, 3 * kTestGib, 7, "python"}}))));
}

TEST(RuleUnevenDevices, IsSkippedForOneGpu) {
  EXPECT_TRUE(is_skipped(judge_log("uneven-devices", job({{90, 10 * kTestGib, 7, "python"}}))));
}

}  // namespace
}  // namespace vramscope
