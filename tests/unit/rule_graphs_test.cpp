// graph-kept and eval-without-no-grad: both rest on the numbers of graph nodes.
#include <gtest/gtest.h>

#include <vector>

#include "rule_recording.h"

namespace vramscope {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr int kLayers = 6;

using Blocks = std::vector<std::uint64_t>;

// A model that records `kLayers` nodes from `sequence` on, with an allocation each.
Blocks forward(Recording& run, std::int64_t& sequence) {
  Blocks blocks;
  for (int layer = 0; layer < kLayers; ++layer) {
    run.numbered("aten::linear", sequence,
                 [&] { run.numbered("aten::addmm", sequence, [&] { blocks.push_back(run.alloc(kMiB)); }); });
    ++sequence;
  }
  run.numbered("aten::detach", sequence);  // shows that the number moved on
  return blocks;
}

void backward(Recording& run, std::int64_t sequence) {
  for (int layer = 1; layer <= kLayers; ++layer) run.backward("AddmmBackward0", sequence - layer);
}

void release(Recording& run, const Blocks& blocks) {
  for (const std::uint64_t block : blocks) run.release(block, kMiB);
}

struct Loop {
  int steps = 8;
  bool evaluates = false;
  bool keeps_evaluation = false;
  bool no_grad = false;
  bool keeps_detached = false;
  bool cut_last_backward = false;
  bool carries_hidden = false;
};

Source recorded(const Loop& loop) {
  Recording run;
  std::int64_t sequence = 100;
  for (int step = 0; step < loop.steps; ++step) {
    run.step(step, [&] {
      Blocks trained = forward(run, sequence);
      if (!loop.cut_last_backward || step + 1 < loop.steps) backward(run, sequence);
      if (loop.keeps_detached) trained.pop_back();
      if (!loop.carries_hidden) release(run, trained);
      run.mark("Optimizer.step#SGD.step");
      if (!loop.evaluates) return;
      if (loop.no_grad) {
        for (int layer = 0; layer < kLayers; ++layer)
          run.op("aten::linear", [&] { run.release(run.alloc(kMiB), kMiB); });
        return;
      }
      const Blocks evaluated = forward(run, sequence);
      if (!loop.keeps_evaluation) release(run, evaluated);
    });
  }
  return run.finish();
}

TEST(EvalWithoutNoGrad, FindsUnusedGraphsThatAreNotKept) {
  Loop loop;
  loop.evaluates = true;
  const Verdicts verdicts = verdicts_of("eval-without-no-grad", recorded(loop));
  ASSERT_EQ(verdicts.findings.size(), 1u);
  const Finding& finding = verdicts.findings.front();
  EXPECT_EQ(finding.severity, Severity::warning);
  EXPECT_EQ(std::get<std::int64_t>(finding.evidence[0].value.data), loop.steps - 1);  // the last step is no evidence
  EXPECT_NE(std::string(finding.summary).find("memory does not grow"), std::string::npos);
  EXPECT_TRUE(is_silent(verdicts_of("graph-kept", recorded(loop))));
}

TEST(EvalWithoutNoGrad, SaysWhenTheResultsAreKept) {
  Loop loop;
  loop.evaluates = loop.keeps_evaluation = true;
  const Source source = recorded(loop);
  const Verdicts verdicts = verdicts_of("eval-without-no-grad", source);
  ASSERT_EQ(verdicts.findings.size(), 1u);
  EXPECT_NE(std::string(verdicts.findings.front().summary).find("results are kept"), std::string::npos);
  const Verdicts kept = verdicts_of("graph-kept", source);
  ASSERT_EQ(kept.findings.size(), 1u);
  EXPECT_EQ(std::get<std::int64_t>(kept.findings.front().evidence[1].value.data), kLayers * kMiB);
}

TEST(EvalWithoutNoGrad, SilentUnderNoGrad) {
  Loop loop;
  loop.evaluates = loop.no_grad = true;
  EXPECT_TRUE(is_silent(verdicts_of("eval-without-no-grad", recorded(loop))));
}

TEST(EvalWithoutNoGrad, SilentOnTrainingAndOnAWindowThatCutsABackwardPass) {
  Loop loop;
  EXPECT_TRUE(is_silent(verdicts_of("eval-without-no-grad", recorded(loop))));
  loop.cut_last_backward = true;
  EXPECT_TRUE(is_silent(verdicts_of("eval-without-no-grad", recorded(loop))));
}

TEST(EvalWithoutNoGrad, SilentOnDataLoadingWithGradientsEnabled) {
  // Operators that carry a number but make no node: it does not move on.
  Recording run;
  std::int64_t sequence = 890;
  for (int step = 0; step < 6; ++step) {
    run.step(step, [&] {
      for (int image = 0; image < 20; ++image) run.numbered("aten::conv2d", sequence);
      release(run, forward(run, sequence));
      backward(run, sequence);
    });
  }
  EXPECT_TRUE(is_silent(verdicts_of("eval-without-no-grad", run.finish())));
}

TEST(EvalWithoutNoGrad, SilentOnRecomputationInsideABackwardPass) {
  Recording run;
  std::int64_t sequence = 0;
  for (int step = 0; step < 6; ++step) {
    run.step(step, [&] {
      release(run, forward(run, sequence));
      const std::int64_t trained = sequence;
      run.op("autograd::engine::evaluate_function: CheckpointFunctionBackward",
             [&] { release(run, forward(run, sequence)); });
      backward(run, trained);
    });
  }
  EXPECT_TRUE(is_silent(verdicts_of("eval-without-no-grad", run.finish())));
}

TEST(EvalWithoutNoGrad, SilentOnAMetric) {
  Recording run;
  std::int64_t sequence = 0;
  for (int step = 0; step < 6; ++step) {
    run.step(step, [&] {
      release(run, forward(run, sequence));
      backward(run, sequence);
      for (const char* name : {"aten::sub", "aten::abs", "aten::mean", "aten::sqrt"}) run.numbered(name, sequence++);
    });
  }
  EXPECT_TRUE(is_silent(verdicts_of("eval-without-no-grad", run.finish())));
}

TEST(EvalWithoutNoGrad, SkippedWithoutNumbers) {
  Recording none;
  none.step(0, [&] { none.op("aten::linear"); });
  EXPECT_TRUE(is_skipped(verdicts_of("eval-without-no-grad", none.finish())));
  Recording no_backward_numbers;
  std::int64_t sequence = 0;
  for (int step = 0; step < 6; ++step) {
    no_backward_numbers.step(step, [&] {
      release(no_backward_numbers, forward(no_backward_numbers, sequence));
      no_backward_numbers.mark("Optimizer.step#SGD.step");
    });
  }
  EXPECT_TRUE(is_skipped(verdicts_of("eval-without-no-grad", no_backward_numbers.finish())));
}

TEST(EvalWithoutNoGrad, SkippedWhereOperatorsWereDropped) {
  Recording run;
  for (int step = 0; step < 6; ++step) {
    run.step(step, [&] {
      for (int layer = 0; layer < kLayers; ++layer) run.numbered("aten::linear", step * 1000 + layer * 50);
      run.backward("AddmmBackward0", step * 1000);
    });
  }
  EXPECT_TRUE(is_skipped(verdicts_of("eval-without-no-grad", run.finish())));
}

TEST(EvalWithoutNoGrad, InferenceAloneIsInfo) {
  Recording run;
  std::int64_t sequence = 0;
  for (int step = 0; step < 6; ++step) run.step(step, [&] { release(run, forward(run, sequence)); });
  const Verdicts verdicts = verdicts_of("eval-without-no-grad", run.finish());
  ASSERT_EQ(verdicts.findings.size(), 1u);
  EXPECT_EQ(verdicts.findings.front().severity, Severity::info);
}

TEST(GraphKept, FindsAHiddenStateThatIsNeverDetached) {
  Loop loop;
  loop.carries_hidden = true;
  EXPECT_EQ(verdicts_of("graph-kept", recorded(loop)).findings.size(), 1u);
}

TEST(GraphKept, SilentOnTrainingAndOnDetachedResults) {
  Loop loop;
  EXPECT_TRUE(is_silent(verdicts_of("graph-kept", recorded(loop))));
  loop.keeps_detached = true;  // one block a step stays, the graph does not
  EXPECT_TRUE(is_silent(verdicts_of("graph-kept", recorded(loop))));
}

TEST(GraphKept, SilentOnAQueueOfBoundedLength) {
  Recording run;
  std::int64_t sequence = 0;
  std::vector<Blocks> queue;
  for (int step = 0; step < 10; ++step) {
    run.step(step, [&] {
      queue.push_back(forward(run, sequence));
      backward(run, sequence);
      if (queue.size() <= 3) return;
      release(run, queue.front());
      queue.erase(queue.begin());
    });
  }
  EXPECT_TRUE(is_silent(verdicts_of("graph-kept", run.finish())));
}

TEST(GraphKept, SkippedWithoutAddressesStepsOrNumbers) {
  Recording no_address;
  for (int step = 0; step < 6; ++step) no_address.step(step, [&] { no_address.alloc(kMiB, false); });
  EXPECT_TRUE(is_skipped(verdicts_of("graph-kept", no_address.finish())));
  Recording no_numbers;
  for (int step = 0; step < 6; ++step) no_numbers.step(step, [&] { no_numbers.alloc(kMiB); });
  EXPECT_TRUE(is_skipped(verdicts_of("graph-kept", no_numbers.finish())));
  Loop few;
  few.steps = 3;
  EXPECT_TRUE(is_skipped(verdicts_of("graph-kept", recorded(few))));
}

}  // namespace
}  // namespace vramscope
