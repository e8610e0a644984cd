#include <gtest/gtest.h>

#include "analysis/copies.h"
#include "rule_recording.h"

namespace vramscope {
namespace {

constexpr const char* kRule = "blocking-copies";

struct CopyCase {
  const char* copy = "Memcpy HtoD (Pinned -> Device)";
  const char* call = "cudaMemcpyAsync";
  const char* around = "aten::copy_";
  std::int64_t call_ns = 10;
  std::int64_t wait_ns = 0;  // 0: no wait behind it
  std::int64_t bytes = 4 << 20;
  bool kernel_runs = false;
};

// Eight steps of about 1 us besides the copy.
Source recorded(const CopyCase& one) {
  Recording run;
  for (int step = 0; step < 8; ++step) {
    run.step(step, [&] {
      run.op("aten::to", [&] {
        run.op(one.around, [&] {
          const std::int64_t begin = run.now();
          run.api(one.call, step + 1, one.call_ns);
          if (one.wait_ns > 0) run.api("cudaStreamSynchronize", 100 + step, one.wait_ns);
          run.copy(one.copy, step + 1, one.bytes, begin + 1, 5);
          if (one.kernel_runs) run.kernel(begin, run.now() - begin);
        });
      });
      run.pass(1000);
    });
  }
  return run.finish();
}

TEST(BlockingCopies, FindsPinnedCopiesThatWait) {
  CopyCase one;
  one.wait_ns = 400;
  const Verdicts verdicts = verdicts_of(kRule, recorded(one));
  ASSERT_EQ(verdicts.findings.size(), 1u);
  const Finding& finding = verdicts.findings.front();
  EXPECT_EQ(finding.severity, Severity::warning);
  EXPECT_EQ(std::get<std::int64_t>(finding.evidence[3].value.data), 8);
  EXPECT_STREQ(finding.evidence[0].what, "time lost: waiting while no kernel ran");
  EXPECT_EQ(std::string(finding.summary).find("{lost}"), 0u) << "the loss comes first";
  EXPECT_EQ(std::get<std::int64_t>(finding.evidence[2].value.data), 8 * 410);
  EXPECT_NE(std::string(finding.title).find("non_blocking"), std::string::npos);
  EXPECT_NE(std::string(finding.summary).find("memory does not grow"), std::string::npos);
}

TEST(BlockingCopies, FindsPageableCopies) {
  CopyCase one;
  one.copy = "Memcpy HtoD (Pageable -> Device)";
  one.call_ns = 300;
  const Verdicts verdicts = verdicts_of(kRule, recorded(one));
  ASSERT_EQ(verdicts.findings.size(), 1u);
  EXPECT_NE(std::string(verdicts.findings.front().title).find("pageable"), std::string::npos);
}

TEST(BlockingCopies, SilentWhenTheCopyRunsBeside) {
  EXPECT_TRUE(is_silent(verdicts_of(kRule, recorded({}))));
}

TEST(BlockingCopies, SilentWhileKernelsRun) {
  CopyCase one;
  one.wait_ns = 400;
  one.kernel_runs = true;
  EXPECT_TRUE(is_silent(verdicts_of(kRule, recorded(one))));
}

TEST(BlockingCopies, SilentOnReadingANumber) {
  CopyCase one;
  one.copy = "Memcpy DtoH (Device -> Pageable)";
  one.around = "aten::_local_scalar_dense";
  one.wait_ns = 400;
  EXPECT_TRUE(is_silent(verdicts_of(kRule, recorded(one))));
}

TEST(BlockingCopies, SmallResultsAreInfoAndLargeOnesAWarning) {
  CopyCase one;
  one.copy = "Memcpy DtoH (Device -> Pageable)";
  one.wait_ns = 400;
  one.bytes = 256;
  EXPECT_EQ(verdicts_of(kRule, recorded(one)).findings.at(0).severity, Severity::info);
  one.bytes = 4 << 20;
  EXPECT_EQ(verdicts_of(kRule, recorded(one)).findings.at(0).severity, Severity::warning);
}

TEST(BlockingCopies, AWaitElsewhereIsNotTheCopys) {
  Recording run;
  for (int step = 0; step < 8; ++step) {
    run.step(step, [&] {
      run.op("aten::copy_", [&] {
        run.api("cudaMemcpyAsync", step + 1, 10);
        run.copy("Memcpy HtoD (Pinned -> Device)", step + 1, 1 << 20, run.now(), 5);
      });
      run.api("cudaStreamSynchronize", 100 + step, 400);
    });
  }
  EXPECT_TRUE(is_silent(verdicts_of(kRule, run.finish())));
}

TEST(BlockingCopies, SkippedWithoutCopiesOrCalls) {
  EXPECT_TRUE(is_skipped(verdicts_of(kRule, Recording().finish())));
  Recording run;
  run.copy("Memcpy HtoD (Pinned -> Device)", 7, 64, 10, 5);
  EXPECT_TRUE(is_skipped(verdicts_of(kRule, run.finish())));
}

}  // namespace
}  // namespace vramscope
