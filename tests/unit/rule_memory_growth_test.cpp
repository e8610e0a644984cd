#include <gtest/gtest.h>

#include <deque>

#include "rule_recording.h"

namespace vramscope {
namespace {

constexpr const char* kRule = "memory-growth";
constexpr std::int64_t kMiB = 1 << 20;

TEST(MemoryGrowth, FindsBlocksThatEachStepLeavesBehind) {
  Recording run;
  for (int step = 3; step < 11; ++step) {
    run.step(step, [&] {
      run.frame("train.py(42): step", [&] { run.op("aten::linear", [&] { run.alloc(5 * kMiB); }); });
      run.op("aten::relu", [&] { run.release(run.alloc(kMiB), kMiB); });
    });
  }
  const Verdicts verdicts = verdicts_of(kRule, run.finish());
  ASSERT_EQ(verdicts.findings.size(), 1u);
  const Finding& finding = verdicts.findings.front();
  EXPECT_EQ(finding.severity, Severity::error);
  EXPECT_GT(finding.confidence, 0.95);
  EXPECT_EQ(std::get<std::int64_t>(finding.evidence.front().value.data), 5 * kMiB);
  const Evidence& place = finding.evidence.back();
  EXPECT_EQ(std::get<std::string>(place.where.arguments[0].second.data), "aten::linear");
  EXPECT_EQ(std::get<std::string>(place.where.arguments[1].second.data), "train.py(42): step");
  EXPECT_EQ(std::get<std::int64_t>(place.value.data), 5 * kMiB);
}

TEST(MemoryGrowth, FewerStepsGiveLessConfidence) {
  const auto confidence = [](int steps) {
    Recording run;
    for (int step = 0; step < steps; ++step) run.step(step, [&] { run.alloc(kMiB); });
    return verdicts_of(kRule, run.finish()).findings.at(0).confidence;
  };
  EXPECT_LT(confidence(4), confidence(7));
  EXPECT_LT(confidence(7), confidence(12));
}

TEST(MemoryGrowth, AFewBytesAStepAreInfo) {
  Recording run;
  for (int step = 0; step < 8; ++step) run.step(step, [&] { run.alloc(512); });
  const Verdicts verdicts = verdicts_of(kRule, run.finish());
  ASSERT_EQ(verdicts.findings.size(), 1u);
  EXPECT_EQ(verdicts.findings.front().severity, Severity::info);
}

TEST(MemoryGrowth, WithoutAddressesTheLevelTells) {
  Recording run;
  for (int step = 0; step < 8; ++step) run.step(step, [&] { run.alloc(kMiB, false); });
  const Verdicts verdicts = verdicts_of(kRule, run.finish());
  ASSERT_EQ(verdicts.findings.size(), 1u);
  EXPECT_EQ(verdicts.findings.front().severity, Severity::warning);
}

// Frees by threads that the profiler does not follow are not recorded; the allocator's totals know better.
TEST(MemoryGrowth, SilentWhenTheAllocatorsTotalsAreFlat) {
  Recording run;
  for (int step = 0; step < 8; ++step) run.step(step, [&] { run.alloc(4 * kMiB); });
  Source source = run.finish();
  for (std::int64_t& total : source.trace.memory.total_allocated) total = 100 * kMiB;
  EXPECT_TRUE(is_silent(verdicts_of(kRule, source)));
}

TEST(MemoryGrowth, FindsGrowthThatOnlyTheAllocatorsTotalsShow) {
  Recording run;
  for (int step = 0; step < 8; ++step) run.step(step, [&] { run.release(run.alloc(kMiB), kMiB); });
  Source source = run.finish();
  MemoryEvents& memory = source.trace.memory;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    memory.total_allocated[i] = 100 * kMiB + static_cast<std::int64_t>(i / 2) * 20 * kMiB;
  }
  const Verdicts verdicts = verdicts_of(kRule, source);
  ASSERT_EQ(verdicts.findings.size(), 1u);
  EXPECT_EQ(verdicts.findings.front().severity, Severity::warning);
  EXPECT_EQ(std::get<std::int64_t>(verdicts.findings.front().evidence.front().value.data), 20 * kMiB);
}

TEST(MemoryGrowth, SilentOnWarmUpAndOptimizerState) {
  Recording run;
  for (int step = 0; step < 8; ++step) {
    run.step(step, [&] {
      if (step == 0) run.alloc(100 * kMiB);
      if (step == 1) run.alloc(10 * kMiB);
      run.release(run.alloc(kMiB), kMiB);
    });
  }
  EXPECT_TRUE(is_silent(verdicts_of(kRule, run.finish())));
}

TEST(MemoryGrowth, SilentOnACacheThatFills) {
  Recording run;
  for (int step = 0; step < 12; ++step) run.step(step, [&] { run.alloc((16 * kMiB) >> step, false); });
  EXPECT_TRUE(is_silent(verdicts_of(kRule, run.finish())));
}

TEST(MemoryGrowth, SilentWhenFreesComeOneStepLater) {
  Recording run;
  std::deque<std::uint64_t> alive;
  for (int step = 0; step < 8; ++step) {
    run.step(step, [&] {
      alive.push_back(run.alloc(kMiB));
      if (alive.size() < 3) return;
      run.release(alive.front(), kMiB);
      alive.pop_front();
    });
  }
  EXPECT_TRUE(is_silent(verdicts_of(kRule, run.finish())));
}

TEST(MemoryGrowth, SilentOnLongerInputs) {
  Recording run;
  std::uint64_t output = 0;
  for (int step = 0; step < 8; ++step) {
    run.step(step, [&] {
      const std::int64_t length = 10 + step;
      for (int layer = 0; layer < 8; ++layer) run.release(run.alloc(length * kMiB), length * kMiB);
      const std::uint64_t next = run.alloc(length * kMiB);  // the last output lives until the next one is there
      if (output != 0) run.release(output, (length - 1) * kMiB);
      output = next;
    });
  }
  EXPECT_TRUE(is_silent(verdicts_of(kRule, run.finish())));
}

TEST(MemoryGrowth, ABufferThatIsExtendedIsInfo) {
  Recording run;
  std::uint64_t history = 0;
  for (int step = 1; step < 9; ++step) {
    run.step(step, [&] {
      const std::uint64_t next = run.alloc(step * kMiB);
      if (history != 0) run.release(history, (step - 1) * kMiB);
      history = next;
    });
  }
  const Verdicts verdicts = verdicts_of(kRule, run.finish());
  ASSERT_EQ(verdicts.findings.size(), 1u);
  EXPECT_EQ(verdicts.findings.front().severity, Severity::info);
}

TEST(MemoryGrowth, SilentWhenARecordingEndsInsideAStep) {
  Recording run;
  for (int step = 0; step < 6; ++step) run.step(step, [&] { run.release(run.alloc(kMiB), kMiB); });
  for (int layer = 0; layer < 20; ++layer) run.alloc(kMiB);
  EXPECT_TRUE(is_silent(verdicts_of(kRule, run.finish())));
}

TEST(MemoryGrowth, SilentWhenAFullRingTurns) {
  // Blocks from before the recording go as new ones come.
  Recording run;
  for (int step = 0; step < 8; ++step) {
    run.step(step, [&] {
      run.alloc(kMiB);
      run.release(static_cast<std::uint64_t>(step + 1), kMiB);
    });
  }
  EXPECT_TRUE(is_silent(verdicts_of(kRule, run.finish())));
}

TEST(MemoryGrowth, SkippedWithoutMemoryOrSteps) {
  Recording no_memory;
  for (int step = 0; step < 8; ++step) no_memory.step(step, [] {});
  EXPECT_TRUE(is_skipped(verdicts_of(kRule, no_memory.finish())));
  Recording few_steps;
  for (int step = 0; step < 3; ++step) few_steps.step(step, [&] { few_steps.alloc(kMiB); });
  EXPECT_TRUE(is_skipped(verdicts_of(kRule, few_steps.finish())));
  EXPECT_TRUE(is_skipped(verdicts_of(kRule, Recording().finish())));
}

}  // namespace
}  // namespace vramscope
