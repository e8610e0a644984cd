#include "analysis/lifetimes.h"

#include <gtest/gtest.h>

#include "analysis/ops_steps.h"
#include "ops_trace.h"

namespace vramscope {
namespace {

const MemoryDevice kCuda0{1, 0};

// Two steps of 100 ns with an operator in each and one that frees.
Source two_steps() {
  return make_ops_source([](OpsTrace& t) {
    t.annotation("ProfilerStep#1", 100, 200);
    t.op("make", 110, 130);
    t.memory(112, 1, 0x1);  // freed in the same call, by an operator inside it
    t.op("inner", 114, 118);
    t.memory(115, -1, 0x1);
    t.memory(120, 20, 0x2);      // freed in the same step
    t.memory(121, 300, 0x3);     // freed in the next one
    t.memory(122, 4000, 0x4);    // never
    t.memory(123, 50000, 0x5);   // freed after the steps
    t.memory(124, 600000, 0x6);  // allocated again without a free
    t.op("drop", 150, 160);
    t.memory(155, -20, 0x2);
    t.memory(157, -9, 0x99);  // from before the recording
    t.annotation("ProfilerStep#2", 200, 300);
    t.op("drop", 210, 220);
    t.memory(210, -300, 0x3);
    t.memory(250, 7, 0x6);  // the step's own allocation
    t.memory(350, -50000, 0x5);
  });
}

const OpLifetime& life_of(const Lifetimes& lifetimes, std::string_view op) {
  static const OpLifetime missing;
  for (const OpLifetime& life : lifetimes.ops) {
    if (life.op == op) return life;
  }
  ADD_FAILURE() << op;
  return missing;
}

TEST(Lifetimes, SaysWhenAndByWhom) {
  const Source source = two_steps();
  const Lifetimes found = find_lifetimes(source.trace, {});
  const OpLifetime& make = life_of(found, "make");
  EXPECT_EQ(make.allocs, 6);
  EXPECT_EQ(make.alloc_bytes, 654321);
  EXPECT_EQ(make.freed_same_op_bytes, 1);
  EXPECT_EQ(make.freed_same_step_bytes, 20);
  EXPECT_EQ(make.freed_later_step_bytes, 300);
  EXPECT_EQ(make.never_freed_bytes, 4000);
  EXPECT_EQ(make.freed_outside_steps_bytes, 50000);
  EXPECT_EQ(make.free_not_seen_bytes, 600000);
  using Freed = std::vector<std::pair<std::string, std::int64_t>>;
  EXPECT_EQ(make.freed_by, (Freed{{"[memory]", 50000}, {"drop", 320}, {"inner", 1}}));
  EXPECT_EQ(life_of(found, "ProfilerStep*").never_freed_bytes, 7);
  EXPECT_EQ(found.frees_without_alloc, 1);
  EXPECT_EQ(found.frees_without_alloc_bytes, 9);
  EXPECT_EQ(found.ops.front().op, "make");
}

TEST(Lifetimes, FreeAtTheEndOfTheCallIsNotInIt) {
  const Source source = make_ops_source([](OpsTrace& t) {
    t.op("f", 0, 10);
    t.memory(5, 8, 0x1);
    t.memory(10, -8, 0x1);
    t.memory(6, 16, 0x2);
    t.memory(7, -16, 0x2, {0, -1}, kUnknown, "2");  // another thread
  });
  const OpLifetime life = life_of(find_lifetimes(source.trace, {}), "f");
  EXPECT_EQ(life.freed_same_op_bytes, 0);
  EXPECT_EQ(life.freed_outside_steps_bytes, 24);
}

TEST(Lifetimes, DevicesAreApart) {
  const Source source = make_ops_source([](OpsTrace& t) {
    t.op("f", 0, 10);
    t.memory(1, 100, 0x1);
    t.memory(2, 2000, 0x1, kCuda0);  // the same address on another device
    t.memory(3, -2000, 0x1, kCuda0);
  });
  const Lifetimes both = find_lifetimes(source.trace, {});
  ASSERT_EQ(both.ops.size(), 2u);
  EXPECT_EQ(both.ops[0].alloc_bytes, 2000);
  EXPECT_EQ(both.ops[0].freed_same_op_bytes, 2000);
  EXPECT_EQ(both.ops[1].never_freed_bytes, 100);
  const Lifetimes cuda = find_lifetimes(source.trace, *parse_device("cuda:0"));
  ASSERT_EQ(cuda.ops.size(), 1u);
  EXPECT_EQ(cuda.ops[0].alloc_bytes, 2000);
}

TEST(Lifetimes, WithoutAddressesNothingIsGuessed) {
  const Source source = make_ops_source([](OpsTrace& t) {
    t.op("f", 0, 10);
    t.memory(1, 100, kUnknownAddress);
    t.memory(2, -100, kUnknownAddress);
  });
  const Lifetimes found = find_lifetimes(source.trace, {});
  EXPECT_TRUE(found.has_memory);
  EXPECT_FALSE(found.has_addresses);
  EXPECT_TRUE(found.ops.empty());
  EXPECT_EQ(found.events_without_address, 2);
  EXPECT_FALSE(find_lifetimes(Source{}.trace, {}).has_memory);
}

TEST(StepUse, AllocatedFreedKeptAndPeak) {
  const Source source = two_steps();
  const std::vector<StepUse> steps = memory_by_step(source.trace, {});
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].number, 1);
  EXPECT_EQ(steps[0].begin_ns, 100);
  EXPECT_EQ(steps[0].end_ns, 200);
  ASSERT_EQ(steps[0].devices.size(), 1u);
  const StepDevice& first = steps[0].devices[0];
  EXPECT_EQ(first.alloc_bytes, 654321);
  EXPECT_EQ(first.free_bytes, 30);
  EXPECT_EQ(first.kept_bytes, 654291);
  EXPECT_EQ(first.peak_bytes, 654320);
  EXPECT_FALSE(first.peak_allocated_bytes.has_value());
  const StepDevice& second = steps[1].devices[0];
  EXPECT_EQ(second.alloc_bytes, 7);
  EXPECT_EQ(second.free_bytes, 300);
  EXPECT_EQ(second.kept_bytes, -293);
  EXPECT_EQ(second.peak_bytes, 0);  // it only falls
}

TEST(StepUse, AbsolutePeakWhereTotalsAreWritten) {
  const Source source = make_ops_source([](OpsTrace& t) {
    t.annotation("ProfilerStep#1", 0, 100);
    t.memory(10, 50, 0x1, kCuda0, 1050);
    t.memory(20, 100, 0x2, kCuda0, 1150);
    t.memory(30, -100, 0x2, kCuda0, 1050);
  });
  const std::vector<StepUse> steps = memory_by_step(source.trace, {});
  ASSERT_EQ(steps.size(), 1u);
  ASSERT_EQ(steps[0].devices.size(), 1u);
  EXPECT_EQ(steps[0].devices[0].peak_bytes, 150);
  EXPECT_EQ(steps[0].devices[0].peak_allocated_bytes, 1150);
  EXPECT_EQ(steps[0].devices[0].kept_bytes, 50);
}

}  // namespace
}  // namespace vramscope
