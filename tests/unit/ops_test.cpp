#include "analysis/ops.h"

#include <gtest/gtest.h>

#include "analysis/ops_sort.h"
#include "ops_trace.h"

namespace vramscope {
namespace {

OpTable table_of(const Source& source, const OpQuery& query = {}) {
  return build_op_table(source.trace, query);
}

const OpRow& row_of(const OpTable& table, std::string_view name) {
  static const OpRow missing;
  const OpRow* found = &missing;
  int rows = 0;
  for (const OpRow& row : table.rows) {
    if (row.name != name) continue;
    found = &row;
    ++rows;
  }
  EXPECT_EQ(rows, 1) << name;
  return *found;
}

const MemoryDevice kCuda0{1, 0};
const MemoryDevice kCuda1{1, 1};

TEST(Ops, SelfTimeIsWithoutDirectChildren) {
  const Source source = make_ops_source([](OpsTrace& t) {
    t.op("aten::linear", 0, 100);
    t.op("aten::addmm", 10, 60);
    t.op("aten::copy_", 20, 30);
    t.op("aten::t", 70, 80);
  });
  const OpTable table = table_of(source);
  EXPECT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(row_of(table, "aten::linear").totals.total_cpu_ns, 100);
  EXPECT_EQ(row_of(table, "aten::linear").totals.self_cpu_ns, 40);
  EXPECT_EQ(row_of(table, "aten::addmm").totals.self_cpu_ns, 40);
  EXPECT_EQ(row_of(table, "aten::copy_").totals.self_cpu_ns, 10);
  EXPECT_EQ(row_of(table, "aten::t").totals.self_cpu_ns, 10);
  EXPECT_EQ(table.self_cpu_ns, 100);
}

TEST(Ops, RecursiveOperatorCountsEachCall) {
  const Source source = make_ops_source([](OpsTrace& t) {
    t.op("f", 0, 100);
    t.op("f", 10, 90);
    t.call("cudaLaunchKernel", 20, 25, 7);
    t.kernel("k", 30, 80, 7);
    t.memory(40, 64, 0x10);
  });
  const OpTotals f = row_of(table_of(source), "f").totals;
  EXPECT_EQ(f.count, 2);
  EXPECT_EQ(f.total_cpu_ns, 180);
  EXPECT_EQ(f.self_cpu_ns, 100);
  EXPECT_EQ(f.self_device_ns, 50);
  EXPECT_EQ(f.total_device_ns, 100);
  EXPECT_EQ(f.self_cpu_bytes, 64);
  EXPECT_EQ(f.total_cpu_bytes, 128);
}

TEST(Ops, ChildThatOutlivesItsParentIsCutAtItsEnd) {
  const Source source = make_ops_source([](OpsTrace& t) {
    t.op("parent", 0, 50);
    t.op("child", 40, 80);
  });
  const OpTable table = table_of(source);
  EXPECT_EQ(row_of(table, "parent").totals.self_cpu_ns, 40);
  EXPECT_EQ(row_of(table, "child").totals.self_cpu_ns, 40);
}

TEST(Ops, ZeroLengthOperatorsHoldNothing) {
  const Source source = make_ops_source([](OpsTrace& t) {
    t.op("outer", 0, 100);
    t.op("empty", 50, 50);
    t.memory(50, 512, 0x10);
    t.op("inner", 50, 60);
  });
  const OpTable table = table_of(source);
  EXPECT_EQ(row_of(table, "empty").totals.count, 1);
  EXPECT_EQ(row_of(table, "empty").totals.self_cpu_bytes, 0);
  EXPECT_EQ(row_of(table, "inner").totals.self_cpu_bytes, 512);
  EXPECT_EQ(row_of(table, "outer").totals.self_cpu_ns, 90);
}

TEST(Ops, AllocationsBelongToHalfOpenRanges) {
  const Source source = make_ops_source([](OpsTrace& t) {
    t.op("outer", 0, 100);
    t.op("first", 10, 20);
    t.op("second", 20, 30);
    t.memory(10, 1, 0x1);
    t.memory(20, 10, 0x2);
    t.memory(30, 100, 0x3);
    t.memory(100, 1000, 0x4);
  });
  const OpTable table = table_of(source);
  EXPECT_EQ(row_of(table, "first").totals.self_cpu_bytes, 1);
  EXPECT_EQ(row_of(table, "second").totals.self_cpu_bytes, 10);
  EXPECT_EQ(row_of(table, "outer").totals.self_cpu_bytes, 100);
  EXPECT_EQ(row_of(table, "outer").totals.total_cpu_bytes, 111);
  const OpRow& outside = row_of(table, "[memory]");
  EXPECT_EQ(outside.totals.count, 1);
  EXPECT_EQ(outside.totals.self_cpu_bytes, 1000);
  EXPECT_EQ(outside.totals.total_cpu_bytes, 1000);
  EXPECT_FALSE(outside.kind.has_value());
  EXPECT_EQ(table.unattributed.memory_events, 1);
  EXPECT_EQ(table.unattributed.cpu_bytes, 1000);
}

TEST(Ops, PythonFramesAreTransparent) {
  const Source source = make_ops_source([](OpsTrace& t) {
    t.annotation("ProfilerStep#1", 0, 100);
    t.python("train.py(3): step", 5, 95);
    t.op("aten::add", 10, 60);
    t.python("hook.py(1): hook", 20, 50);
    t.op("aten::mul", 30, 40);
  });
  const OpTable table = table_of(source);
  EXPECT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(row_of(table, "aten::add").totals.self_cpu_ns, 40);
  EXPECT_EQ(row_of(table, "ProfilerStep*").totals.self_cpu_ns, 50);
}

TEST(Ops, StepsShareOneRow) {
  const Source source = make_ops_source([](OpsTrace& t) {
    t.annotation("ProfilerStep#1", 0, 10);
    t.annotation("ProfilerStep#2", 10, 30);
  });
  const OpTable table = table_of(source);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].name, "ProfilerStep*");
  EXPECT_EQ(table.rows[0].totals.count, 2);
  EXPECT_EQ(table.rows[0].totals.total_cpu_ns, 30);
}

TEST(Ops, ApiCallsHaveRowsOnlyWhenAskedFor) {
  const Source source = make_ops_source([](OpsTrace& t) {
    t.op("aten::mm", 0, 100);
    t.call("cudaLaunchKernel", 10, 30, 7);
    t.kernel("gemm", 200, 260, 7);
  });
  const OpTable ops = table_of(source);
  EXPECT_EQ(ops.rows.size(), 1u);
  EXPECT_EQ(row_of(ops, "aten::mm").totals.self_cpu_ns, 100);
  OpQuery query;
  query.all_rows = true;
  const OpTable all = table_of(source, query);
  EXPECT_EQ(row_of(all, "aten::mm").totals.self_cpu_ns, 80);
  EXPECT_EQ(row_of(all, "aten::mm").totals.self_device_ns, 60);
  EXPECT_EQ(row_of(all, "cudaLaunchKernel").totals.self_cpu_ns, 20);
  EXPECT_EQ(row_of(all, "cudaLaunchKernel").totals.self_device_ns, 0);
  EXPECT_STREQ(row_kind_name(row_of(all, "cudaLaunchKernel").kind), "runtime_api");
  EXPECT_EQ(row_of(all, "gemm").totals.self_device_ns, 60);
  EXPECT_EQ(row_of(all, "gemm").totals.total_device_ns, 60);
  EXPECT_EQ(row_of(all, "gemm").totals.total_cpu_ns, 0);
  EXPECT_EQ(all.device_ns, 60);
}

TEST(Ops, DeviceTimeGoesToTheLauncherAndThoseAroundIt) {
  const Source source = make_ops_source([](OpsTrace& t) {
    t.annotation("forward", 0, 200);
    t.op("aten::linear", 0, 100);
    t.op("aten::addmm", 10, 60);
    t.call("cudaLaunchKernel", 20, 30, 7);
    t.call("cudaMemcpyAsync", 70, 80, 8);
    t.op("BackwardOp", 50, 90, "2");
    t.call("cudaLaunchKernel", 55, 60, 9, "2");
    t.kernel("gemm", 300, 350, 7);
    t.kernel("copy", 350, 355, 8);
    t.kernel("gemm_backward", 400, 407, 9);
    t.kernel("unknown", 500, 600, 99);
  });
  const OpTable table = table_of(source);
  EXPECT_EQ(row_of(table, "aten::addmm").totals.self_device_ns, 50);
  EXPECT_EQ(row_of(table, "aten::linear").totals.self_device_ns, 5);
  EXPECT_EQ(row_of(table, "aten::linear").totals.total_device_ns, 55);
  EXPECT_EQ(row_of(table, "forward").totals.self_device_ns, 0);
  EXPECT_EQ(row_of(table, "forward").totals.total_device_ns, 55);
  EXPECT_EQ(row_of(table, "BackwardOp").totals.total_device_ns, 7);
  EXPECT_EQ(table.unattributed.device_ns, 100);
  EXPECT_EQ(table.unattributed.count, 1);
  EXPECT_EQ(table.device_ns, 162);
}

TEST(Ops, DeviceFilterLimitsDeviceTimeAndMemory) {
  const Source source = make_ops_source([](OpsTrace& t) {
    t.op("f", 0, 100);
    t.call("cudaLaunchKernel", 10, 11, 1);
    t.call("cudaLaunchKernel", 20, 21, 2);
    t.kernel("k", 200, 210, 1, kUnknown, 0);
    t.kernel("k", 200, 220, 2, kUnknown, 1);
    t.memory(30, 100, 0x1, kCuda0);
    t.memory(31, 1000, 0x2, kCuda1);
    t.memory(32, 7, 0x3);
  });
  OpQuery query;
  query.device = *parse_device("cuda:1");
  const OpTotals one = row_of(table_of(source, query), "f").totals;
  EXPECT_EQ(one.self_device_ns, 20);
  EXPECT_EQ(one.self_device_bytes, 1000);
  EXPECT_EQ(one.self_cpu_bytes, 7);
  query.device = *parse_device("cpu");
  const OpTable cpu = table_of(source, query);
  EXPECT_EQ(row_of(cpu, "f").totals.self_device_ns, 0);
  EXPECT_EQ(row_of(cpu, "f").totals.self_device_bytes, 0);
  EXPECT_FALSE(cpu.has_device_work);
  EXPECT_FALSE(cpu.has_device_memory);
  EXPECT_EQ(row_of(table_of(source), "f").totals.total_device_bytes, 1100);
}

TEST(Ops, DeviceNames) {
  EXPECT_EQ(parse_device("3")->index, 3);
  EXPECT_TRUE(parse_device("cpu")->cpu);
  EXPECT_TRUE(parse_device("cuda:0")->wants_memory({6, 0}));  // PyTorch calls AMD's devices cuda
  EXPECT_FALSE(parse_device("hip:0")->wants_memory({1, 0}));
  for (const char* bad : {"", "cuda", "cuda:", ":0", "cuda:x", "-1", "0x"}) {
    EXPECT_FALSE(parse_device(bad).has_value()) << bad;
  }
}

TEST(Ops, GroupsByShape) {
  const Source source = make_ops_source([](OpsTrace& t) {
    const std::uint32_t small = t.shapes("[[2, 2]]", 0.5f);
    const std::uint32_t large = t.shapes("[[8, 8]]", 2.0f);
    t.op("aten::mm", 0, 10, "1", kUnknown, small);
    t.op("aten::mm", 10, 30, "1", kUnknown, large);
    t.op("aten::mm", 30, 40, "1", kUnknown, small);
  });
  OpQuery query;
  query.by_shape = true;
  OpTable table = table_of(source, query);
  sort_rows(table.rows, OpColumn::count);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].shapes, "[[2, 2]]");
  EXPECT_EQ(table.rows[0].totals.total_cpu_ns, 20);
  EXPECT_DOUBLE_EQ(table.rows[0].gigaflops.value(), 1.0);
  EXPECT_EQ(table.rows[1].shapes, "[[8, 8]]");
  EXPECT_DOUBLE_EQ(row_of(table_of(source), "aten::mm").gigaflops.value(), 3.0);
}

TEST(Ops, GroupsByStepAndAnnotation) {
  const Source source = make_ops_source([](OpsTrace& t) {
    t.annotation("ProfilerStep#4", 0, 100);
    t.annotation("forward", 0, 50);
    t.op("aten::mm", 10, 20);
    t.op("aten::mm", 60, 70);
    t.annotation("ProfilerStep#5", 100, 200);
    t.op("aten::mm", 110, 120);
    t.op("aten::mm", 150, 160, "2");
    t.op("aten::mm", 210, 220);
  });
  OpQuery query;
  query.by_step = true;
  const OpTable steps = table_of(source, query);
  std::int64_t in_four = 0;
  std::int64_t in_five = 0;
  std::int64_t outside = 0;
  for (const OpRow& row : steps.rows) {
    if (row.name != "aten::mm") continue;
    (row.step == 4 ? in_four : row.step == 5 ? in_five : outside) = row.totals.count;
  }
  EXPECT_EQ(in_four, 2);
  EXPECT_EQ(in_five, 2);  // the other thread's by time
  EXPECT_EQ(outside, 1);

  query = {};
  query.by_annotation = true;
  const OpTable annotations = table_of(source, query);
  std::int64_t forward = 0;
  std::int64_t step = 0;
  std::int64_t none = 0;
  for (const OpRow& row : annotations.rows) {
    if (row.name != "aten::mm") continue;
    (row.annotation == "forward" ? forward : row.annotation == "ProfilerStep*" ? step : none) = row.totals.count;
  }
  EXPECT_EQ(forward, 1);
  EXPECT_EQ(step, 2);
  EXPECT_EQ(none, 2);
}

TEST(Ops, GroupsByInnermostFrames) {
  const Source source = make_ops_source([](OpsTrace& t) {
    t.python("main.py(1): main", 0, 1000);
    t.python("a.py(1): a", 0, 100);
    t.op("f", 10, 20);
    t.op("f", 30, 40);
    t.python("b.py(1): b", 100, 200);
    t.op("f", 110, 120);
  });
  OpQuery query;
  query.by_stack = true;
  OpTable table = table_of(source, query);
  sort_rows(table.rows, OpColumn::count);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].totals.count, 2);
  EXPECT_EQ(table.rows[0].stack, (std::vector<std::string_view>{"a.py(1): a", "main.py(1): main"}));
  query.stack_depth = 1;
  EXPECT_EQ(table_of(source, query).rows.size(), 2u);
  EXPECT_EQ(table_of(source, query).rows[1].stack.size(), 1u);
}

TEST(Ops, WrittenStacksAreInherited) {
  TraceBuilder builder;
  OpsTrace t(builder);
  t.op("outer", 0, 100, "1", kUnknown, kNone, builder.stack(builder.strings().intern("x.py(2): g;main.py(1): main")));
  t.op("inner", 10, 20);
  Source made;
  builder.finish(made);
  OpQuery query;
  query.by_stack = true;
  const OpTable table = table_of(made, query);
  EXPECT_EQ(row_of(table, "inner").stack, (std::vector<std::string_view>{"x.py(2): g", "main.py(1): main"}));
}

TEST(Ops, DeepNestingIsLinear) {
  constexpr std::int64_t kDepth = 200000;
  const Source source = make_ops_source([](OpsTrace& t) {
    for (std::int64_t i = 0; i < kDepth; ++i) t.op("f", i, 2 * kDepth - i);
    for (std::int64_t i = 0; i < kDepth; ++i) t.memory(kDepth - 1, 1, static_cast<std::uint64_t>(i));
  });
  const OpTotals f = row_of(table_of(source), "f").totals;
  EXPECT_EQ(f.self_cpu_bytes, kDepth);
  EXPECT_EQ(f.total_cpu_bytes, kDepth * kDepth);
  EXPECT_EQ(f.self_cpu_ns, 2 * kDepth);
}

TEST(Ops, SumsStopAtTheEndOfTheRange) {
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  const Source source = make_ops_source([](OpsTrace& t) {
    t.op("f", 0, kHuge, "1");
    t.op("f", 0, kHuge, "2");
    t.memory(5, kHuge, 1);
    t.memory(6, kHuge, 2);
  });
  const OpTotals f = row_of(table_of(source), "f").totals;
  EXPECT_EQ(f.total_cpu_ns, kHuge);
  EXPECT_EQ(f.self_cpu_ns, kHuge);
  EXPECT_EQ(f.self_cpu_bytes, kHuge);
}

TEST(Ops, SortKeysAreThoseOfPyTorch) {
  EXPECT_EQ(parse_sort_key("self_cuda_memory_usage"), OpColumn::self_device_memory_usage);
  EXPECT_EQ(parse_sort_key("cuda_time_total"), OpColumn::device_time_total);
  EXPECT_EQ(parse_sort_key("xpu_time"), OpColumn::device_time);
  EXPECT_EQ(parse_sort_key("cpu_memory_usage"), OpColumn::cpu_memory_usage);
  EXPECT_EQ(parse_sort_key("self_cpu_time_total"), OpColumn::self_cpu_time_total);
  EXPECT_EQ(parse_sort_key("count"), OpColumn::count);
  EXPECT_FALSE(parse_sort_key("cuda").has_value());
  EXPECT_FALSE(parse_sort_key("").has_value());
  for (const std::string_view key : sort_keys()) EXPECT_TRUE(parse_sort_key(key).has_value()) << key;
}

TEST(Ops, EqualsAreSortedByName) {
  std::vector<OpRow> rows(3);
  rows[0].name = "c";
  rows[1].name = "a";
  rows[2].name = "b";
  rows[2].totals.count = 5;
  sort_rows(rows, OpColumn::count);
  EXPECT_EQ(rows[0].name, "b");
  EXPECT_EQ(rows[1].name, "a");
  EXPECT_EQ(rows[2].name, "c");
}

// A trace may have a million different names; a row must not copy its own.
TEST(Ops, RowsShareTheTextOfTheTrace) {
  constexpr int kNames = 20000;  // enough for several threads, were there fewer rows
  const Source source = make_ops_source([](OpsTrace& trace) {
    for (int i = 0; i < kNames; ++i) trace.op("operator number " + std::to_string(i), i * 10, i * 10 + 5);
  });
  const OpTable table = table_of(source);
  ASSERT_EQ(table.rows.size(), std::size_t{kNames});
  EXPECT_EQ(table.self_cpu_ns, kNames * 5);
  EXPECT_EQ(table.rows.capacity(), table.rows.size()) << "allocated once";
  std::size_t shared = 0;
  for (SpanIndex i = 0; i < source.trace.spans.size(); ++i) {
    shared += table.rows[i].name.data() == source.trace.name(i).data() ? 1u : 0u;
  }
  EXPECT_EQ(shared, std::size_t{kNames});
}

TEST(Ops, EmptyTrace) {
  const OpTable table = table_of(Source{});
  EXPECT_TRUE(table.rows.empty());
  EXPECT_FALSE(table.has_memory);
  EXPECT_FALSE(table.has_device_work);
}

}  // namespace
}  // namespace vramscope
