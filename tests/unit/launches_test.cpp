#include "analysis/launches.h"

#include <gtest/gtest.h>

#include "analysis/enclosing_ops.h"
#include "ops_trace.h"

namespace vramscope {
namespace {

// The names of the launchers of all device work, in the order of the kernels; "-" for none.
std::vector<std::string> launchers(const Source& source) {
  std::vector<std::string> names;
  for (const SpanIndex span : find_launches(source.trace, enclosing_ops(source.trace)).launcher) {
    names.emplace_back(span == kNone ? std::string_view("-") : source.trace.name(span));
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(Launches, CorrelationFindsTheOperatorAroundTheCall) {
  const Source source = make_ops_source([](OpsTrace& t) {
    t.op("outer", 0, 100, "1", 1);
    t.op("inner", 10, 50, "1", 2);
    t.call("cudaLaunchKernel", 20, 30, 7);
    t.kernel("k", 100, 110, 7, 1);  // the External id names the outer one: time is finer
  });
  EXPECT_EQ(launchers(source), Names({"inner"}));
}

TEST(Launches, CallInsideACallBelongsToTheOperator) {
  const Source source = make_ops_source([](OpsTrace& t) {
    t.op("op", 0, 100);
    t.call("cudaLaunchKernel", 10, 60, 1);
    t.call("cuLaunchKernel", 20, 40, 2);
    t.kernel("k", 100, 110, 2);
  });
  EXPECT_EQ(launchers(source), Names({"op"}));
}

TEST(Launches, ExternalIdWhereThereIsNoCall) {
  const Source source = make_ops_source([](OpsTrace& t) {
    t.op("a", 0, 10, "1", 41);
    t.op("b", 10, 20, "1", 42);
    t.kernel("k", 100, 110, 900, 42);
    t.kernel("k", 110, 120, 901, 77);
    t.kernel("k", 120, 130, kUnknown, 41);
  });
  EXPECT_EQ(launchers(source), Names({"b", "-", "a"}));
}

TEST(Launches, ExternalIdWhereNothingEnclosesTheCall) {
  const Source source = make_ops_source([](OpsTrace& t) {
    t.op("a", 0, 10, "1", 41);
    t.call("cudaLaunchKernel", 20, 30, 7, "2");
    t.kernel("k", 100, 110, 7, 41);
  });
  EXPECT_EQ(launchers(source), Names({"a"}));
}

TEST(Launches, ExternalIdsThatRepeatTheCorrelationTellNothing) {
  const Source source = make_ops_source([](OpsTrace& t) {
    t.op("a", 0, 10, "1", 7);
    t.op("b", 10, 20, "1", 8);
    t.call("cudaLaunchKernel", 12, 14, 7);
    t.call("cudaLaunchKernel", 30, 34, 8);
    t.kernel("k", 100, 110, 7, 7);
    t.kernel("k", 110, 120, 8, 8);  // nothing encloses its call; operator 8 is another thing
  });
  EXPECT_FALSE(find_launches(source.trace, enclosing_ops(source.trace)).external_ids_tell);
  EXPECT_EQ(launchers(source), Names({"b", "-"}));
}

TEST(Launches, OfSeveralCallsTheOneThatPrecedes) {
  const Source source = make_ops_source([](OpsTrace& t) {
    t.op("first", 0, 10);
    t.call("cudaGraphLaunch", 2, 4, 7);
    t.op("second", 50, 60);
    t.call("cudaGraphLaunch", 52, 54, 7);
    t.op("third", 90, 95);
    t.call("cudaGraphLaunch", 91, 94, 7);
    t.kernel("k", 20, 30, 7);
    t.kernel("k", 70, 80, 7);
    t.kernel("k", 1, 2, 7);  // before all of them: the first
  });
  EXPECT_EQ(launchers(source), Names({"first", "second", "first"}));
}

TEST(Launches, ZeroIsNoId) {
  const Source source = make_ops_source([](OpsTrace& t) {
    t.op("a", 0, 10, "1", 0);
    t.call("cudaLaunchKernel", 2, 4, 0);
    t.kernel("k", 20, 30, 0, 0);
  });
  EXPECT_EQ(launchers(source), Names({"-"}));
}

TEST(Launches, SparseIdsAreFoundToo) {
  constexpr std::int64_t kFar = std::int64_t{1} << 60;
  const Source source = make_ops_source([](OpsTrace& t) {
    t.op("a", 0, 10);
    t.call("x", 1, 2, kFar);
    t.op("b", 10, 20);
    t.call("x", 11, 12, -kFar);
    t.op("c", 20, 30);
    t.call("x", 21, 22, 5);
    t.kernel("k", 100, 110, -kFar);
    t.kernel("k", 110, 120, kFar);
    t.kernel("k", 120, 130, 5);
    t.kernel("k", 130, 140, 6);
  });
  EXPECT_EQ(launchers(source), Names({"b", "a", "c", "-"}));
}

TEST(Launches, AnnotationsLaunchToo) {
  const Source source = make_ops_source([](OpsTrace& t) {
    t.annotation("forward", 0, 100);
    t.call("cudaMemcpyAsync", 10, 20, 3);
    t.kernel("k", 50, 60, 3);
  });
  EXPECT_EQ(launchers(source), Names({"forward"}));
}

}  // namespace
}  // namespace vramscope
