#include <gtest/gtest.h>

#include "analysis/loader.h"
#include "rule_recording.h"

namespace vramscope {
namespace {

constexpr const char* kRule = "loader-starved";
constexpr const char* kSingle = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
constexpr const char* kWorkers = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";

// Steps of 1 us: `load_ns` in the loader, the rest elsewhere.
Source recorded(const char* loader, std::int64_t load_ns, int steps, bool device_works_on = false) {
  Recording run;
  for (int step = 0; step < steps; ++step) {
    const std::int64_t begin = run.now();
    run.step(step, [&] {
      run.mark(loader, [&] { run.pass(load_ns); });
      run.pass(1000 - load_ns);
    });
    if (device_works_on) run.kernel(begin, run.now() - begin);
  }
  return run.finish();
}

TEST(LoaderStarved, FindsASlowLoaderAndSaysHowManyWorkersHideIt) {
  const Verdicts verdicts = verdicts_of(kRule, recorded(kSingle, 750, 8));
  ASSERT_EQ(verdicts.findings.size(), 1u);
  const Finding& finding = verdicts.findings.front();
  EXPECT_EQ(finding.severity, Severity::warning);
  EXPECT_NEAR(std::get<double>(finding.evidence[0].value.data), 0.75, 0.02);
  EXPECT_GT(finding.confidence, 0.9);
}

TEST(LoaderStarved, WorkersByArithmetic) {
  EXPECT_EQ(workers_that_hide(60, 100), 3);  // 60 / 40 rounded up, one to spare
  EXPECT_EQ(workers_that_hide(50, 100), 2);
  EXPECT_EQ(workers_that_hide(90, 100), 10);
  EXPECT_EQ(workers_that_hide(0, 100), 0);
  EXPECT_EQ(workers_that_hide(100, 100), 0);  // nothing else in the step
}

TEST(LoaderStarved, WithWorkersNoNumberIsInvented) {
  const Verdicts verdicts = verdicts_of(kRule, recorded(kWorkers, 500, 8));
  ASSERT_EQ(verdicts.findings.size(), 1u);
  for (const Evidence& evidence : verdicts.findings.front().evidence) {
    EXPECT_STRNE(evidence.what, "workers that would hide the loading");
  }
}

TEST(LoaderStarved, SilentOnAFastLoader) {
  EXPECT_TRUE(is_silent(verdicts_of(kRule, recorded(kSingle, 20, 8))));
}

TEST(LoaderStarved, SilentWhenTheDeviceWorksOn) {
  EXPECT_TRUE(is_silent(verdicts_of(kRule, recorded(kSingle, 600, 8, true))));
}

TEST(LoaderStarved, SilentOnOneSlowFirstBatch) {
  Recording run;
  for (int step = 0; step < 8; ++step) {
    run.step(step, [&] {
      run.mark(kWorkers, [&] { run.pass(step == 0 ? 5000 : 5); });
      run.pass(1000);
    });
  }
  EXPECT_TRUE(is_silent(verdicts_of(kRule, run.finish())));
}

TEST(LoaderStarved, SkippedWithoutLoaderOrSteps) {
  EXPECT_TRUE(is_skipped(verdicts_of(kRule, recorded("something else", 500, 8))));
  EXPECT_TRUE(is_skipped(verdicts_of(kRule, recorded(kSingle, 500, 2))));
}

}  // namespace
}  // namespace vramscope
