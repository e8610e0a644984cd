#include <gtest/gtest.h>

#include "analysis/gradients.h"
#include "rule_recording.h"

namespace vramscope {
namespace {

constexpr const char* kRule = "grads-never-cleared";
constexpr int kParameters = 3;

void backward(Recording& run, bool in_place) {
  for (int p = 0; p < kParameters; ++p) {
    run.op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", [&] {
      run.op("torch::autograd::AccumulateGrad", [&] {
        if (in_place) {
          run.shaped("aten::add_", "[[10, 10], [10, 10], []]", "[\"float\", \"float\", \"Scalar\"]");
        } else {
          run.op("aten::detach");
        }
      });
    });
  }
}

void update(Recording& run) {
  run.mark("Optimizer.step#SGD.step", [&] { run.op("aten::add_"); });
}

TEST(GradsNeverCleared, FindsGradientsThatPileUp) {
  Recording run;
  for (int step = 0; step < 6; ++step) {
    run.step(step, [&] {
      run.op("aten::zeros", [&] { run.op("aten::zero_"); });  // a new tensor clears nothing
      backward(run, true);
      update(run);
    });
  }
  const Verdicts verdicts = verdicts_of(kRule, run.finish());
  ASSERT_EQ(verdicts.findings.size(), 1u);
  const Finding& finding = verdicts.findings.front();
  EXPECT_EQ(finding.severity, Severity::error);
  EXPECT_EQ(std::get<std::int64_t>(finding.evidence[0].value.data), 5);
  EXPECT_EQ(std::get<std::int64_t>(finding.evidence[1].value.data), 5 * kParameters);
  EXPECT_EQ(std::get<std::int64_t>(finding.evidence[3].value.data), kParameters * 10 * 10 * 4);
}

TEST(GradsNeverCleared, SilentWhenDroppedWithoutAMark) {
  Recording run;  // p.grad = None leaves no trace but the next gradient is taken over
  for (int step = 0; step < 6; ++step) {
    run.step(step, [&] {
      backward(run, false);
      update(run);
    });
  }
  EXPECT_TRUE(is_silent(verdicts_of(kRule, run.finish())));
}

TEST(GradsNeverCleared, SilentWhenZeroedInPlace) {
  for (const char* zero : {"aten::zero_", "aten::_foreach_zero_", "aten::fill_"}) {
    Recording run;
    for (int step = 0; step < 6; ++step) {
      run.step(step, [&] {
        run.op(zero);
        backward(run, true);
        update(run);
      });
    }
    EXPECT_TRUE(is_silent(verdicts_of(kRule, run.finish()))) << zero;
  }
}

TEST(GradsNeverCleared, SilentWithAMarkAroundNothing) {
  Recording run;
  for (int step = 0; step < 6; ++step) {
    run.step(step, [&] {
      run.mark("Optimizer.zero_grad#SGD.zero_grad");
      backward(run, true);
      update(run);
    });
  }
  EXPECT_TRUE(is_silent(verdicts_of(kRule, run.finish())));
}

TEST(GradsNeverCleared, SilentOnAccumulationThatIsClearedAfterwards) {
  Recording run;
  for (int step = 0; step < 12; ++step) {
    run.step(step, [&] {
      backward(run, step % 4 != 0);
      if (step % 4 == 3) update(run);
    });
  }
  EXPECT_TRUE(is_skipped(verdicts_of(kRule, run.finish())));  // two whole intervals are too few
  Recording longer;
  for (int step = 0; step < 24; ++step) {
    longer.step(step, [&] {
      backward(longer, step % 4 != 0);
      if (step % 4 == 3) update(longer);
    });
  }
  EXPECT_TRUE(is_silent(verdicts_of(kRule, longer.finish())));
}

TEST(GradsNeverCleared, SilentWhenTheWindowCutsAccumulation) {
  // The first gradient of each update lies before the recording begins or after it ends.
  Recording run;
  backward(run, true);
  update(run);
  backward(run, true);
  EXPECT_TRUE(is_skipped(verdicts_of(kRule, run.finish())));
}

TEST(GradsNeverCleared, TwoOptimizersInARowAreOneUpdate) {
  Recording run;
  for (int step = 0; step < 6; ++step) {
    run.step(step, [&] {
      backward(run, true);
      update(run);
      update(run);
    });
  }
  const Source source = run.finish();
  EXPECT_EQ(gradient_use(source.trace).intervals.size(), 5u);
  EXPECT_EQ(verdicts_of(kRule, source).findings.size(), 1u);
}

TEST(GradsNeverCleared, SkippedWithoutGradients) {
  Recording run;
  for (int step = 0; step < 6; ++step) run.step(step, [&] { update(run); });
  EXPECT_TRUE(is_skipped(verdicts_of(kRule, run.finish())));
}

TEST(FirstTensorBytes, ReadsShapesAndRefusesTheRest) {
  EXPECT_EQ(first_tensor_bytes("[[2, 3], []]", "[\"float\", \"\"]"), 24);
  EXPECT_EQ(first_tensor_bytes("[[]]", "[\"double\"]"), 8);
  EXPECT_EQ(first_tensor_bytes("[[5]]", "[\"c10::Half\"]"), 10);
  EXPECT_EQ(first_tensor_bytes("[[5]]", "[\"something\"]"), std::nullopt);
  EXPECT_EQ(first_tensor_bytes("[]", "[\"float\"]"), std::nullopt);
  EXPECT_EQ(first_tensor_bytes("", ""), std::nullopt);
  EXPECT_EQ(first_tensor_bytes("[[9999999999999, 9999999999999]]", "[\"float\"]"), std::nullopt);
}

}  // namespace
}  // namespace vramscope
