#include "analysis/memory_curve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "analysis/memory_live.h"
#include "analysis/memory_moment.h"
#include "analysis/memory_thin.h"
#include "model/trace_builder.h"

namespace vramscope {
namespace {

constexpr MemoryDevice kGpu{1, 0};
constexpr MemoryDevice kCpu{0, -1};

class MemoryTest : public ::testing::Test {
 protected:
  TrackId track() { return builder_.track(builder_.strings().intern("1"), builder_.strings().intern("1")); }

  void event(std::int64_t time_ns, std::int64_t bytes, std::uint64_t address, std::int64_t total = kUnknown,
             std::int64_t reserved = kUnknown, MemoryDevice device = kGpu) {
    MemoryRow row;
    row.time_ns = time_ns;
    row.bytes = bytes;
    row.address = address;
    row.total_allocated = total;
    row.total_reserved = reserved;
    row.device = device;
    row.track = track();
    builder_.add(row);
  }
  void span(std::string_view name, std::int64_t start_ns, std::int64_t end_ns, SpanKind kind,
            std::string_view stack = {}) {
    SpanRow row;
    row.start_ns = start_ns;
    row.duration_ns = end_ns - start_ns;
    row.name = builder_.strings().intern(name);
    row.track = track();
    row.category =
        builder_.category(builder_.strings().intern("category " + std::to_string(static_cast<int>(kind))), kind);
    row.stack = builder_.stack(builder_.strings().intern(stack));
    builder_.add(row);
  }
  // The devices of the finished trace.
  const std::vector<DeviceMemory>& devices() {
    builder_.finish(source_);
    source_.start_ns = 0;
    source_.end_ns = 1000;
    pairs_ = pair_memory(source_.trace);
    devices_ = device_memory(source_.trace, pairs_);
    return devices_;
  }
  std::vector<LiveGroup> live(std::size_t count, LiveBy by) {
    return group_live(source_.trace, live_after(source_.trace, pairs_, devices_[0], count), by);
  }

  TraceBuilder builder_;
  Source source_;
  MemoryPairs pairs_;
  std::vector<DeviceMemory> devices_;
};

TEST_F(MemoryTest, FollowsTheTotalsThatTheProfilerWrote) {
  event(10, 100, 0xa, 1100, 4096);
  event(20, 300, 0xb, 1400, 8192);
  event(30, -100, 0xa, 1300, 8192);
  event(40, -500, 0xc, 800, 2048);
  const DeviceMemory& memory = devices()[0];
  EXPECT_EQ(memory.kind, CurveKind::written);
  EXPECT_EQ(memory.begin_bytes, 1000);
  EXPECT_EQ(memory.end_bytes, 800);
  EXPECT_EQ(memory.peak, 1u);
  EXPECT_EQ(memory.peak_bytes(), 1400);
  EXPECT_EQ(memory.lowest, 3u);
  EXPECT_EQ(memory.max_allocated_bytes, 1400);
  EXPECT_EQ(memory.max_reserved_bytes, 8192);
  EXPECT_EQ(memory.alloc_bytes, 400);
  EXPECT_EQ(memory.free_bytes, 600);
  EXPECT_EQ(memory.allocs, 2);
  EXPECT_EQ(memory.frees, 2);
  EXPECT_EQ(memory.pairs.frees_without_alloc, 1);
}

TEST_F(MemoryTest, IsRelativeWithoutTotals) {
  event(10, 100, kUnknownAddress);
  event(20, -300, kUnknownAddress);
  event(30, 50, kUnknownAddress);
  const DeviceMemory& memory = devices()[0];
  EXPECT_EQ(memory.kind, CurveKind::relative);
  EXPECT_EQ(memory.begin_bytes, 0);
  EXPECT_EQ(memory.peak_bytes(), 100);
  EXPECT_EQ(memory.allocated[1], -200);
  EXPECT_EQ(memory.end_bytes, -150);
  EXPECT_FALSE(memory.max_allocated_bytes.has_value());
  EXPECT_FALSE(memory.max_reserved_bytes.has_value());
  EXPECT_FALSE(memory.has_addresses());
  EXPECT_FALSE(before_recording_bytes(memory, 1, 100).has_value());
  EXPECT_TRUE(live(1, LiveBy::op).empty());
}

TEST_F(MemoryTest, FillsMissingTotalsFromTheirNeighbours) {
  event(10, 100, 0xa);
  event(20, 10, 0xb, 510);
  event(30, -100, 0xa);
  event(40, 7, 0xc, 600);
  const DeviceMemory& memory = devices()[0];
  EXPECT_EQ(memory.kind, CurveKind::partly_written);
  EXPECT_EQ(memory.events_without_total, 2);
  EXPECT_EQ(memory.begin_bytes, 400);
  EXPECT_EQ(memory.allocated[0], 500);
  EXPECT_EQ(memory.allocated[2], 410);
  EXPECT_EQ(memory.allocated[3], 600);
}

TEST_F(MemoryTest, PutsAcceleratorsBeforeTheCpuAndKeepsThemApart) {
  event(10, 8, 0xa, 8, 0, kCpu);
  event(20, 100, 0xa, 100, 200, {1, 1});
  event(30, 50, 0xa, 50, 60, kGpu);
  const std::vector<DeviceMemory>& all = devices();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(source_.trace.memory_devices[all[0].device].name(), "cuda:0");
  EXPECT_EQ(source_.trace.memory_devices[all[1].device].name(), "cuda:1");
  EXPECT_EQ(source_.trace.memory_devices[all[2].device].name(), "cpu");
  EXPECT_EQ(all[2].alloc_bytes, 8);
}

TEST_F(MemoryTest, SumsStopAtTheEndOfTheRange) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  event(10, kMax, 0xa);
  event(20, kMax, 0xb);
  event(30, kUnknown, 0xc);
  event(40, 0, 0);
  const DeviceMemory& memory = devices()[0];
  EXPECT_EQ(memory.alloc_bytes, kMax);
  EXPECT_EQ(memory.free_bytes, kMax);
  EXPECT_EQ(memory.peak_bytes(), kMax);
  EXPECT_EQ(memory.zero_byte_events, 1);
}

TEST_F(MemoryTest, MeasuresEachStep) {
  span("ProfilerStep#3", 100, 200, SpanKind::annotation);
  span("ProfilerStep#4", 200, 300, SpanKind::annotation);
  span("ProfilerStep#5", 300, 400, SpanKind::annotation);
  event(50, 10, 0xa, 1010);
  event(100, 40, 0xb, 1050);
  event(150, 60, 0xc, 1110);
  event(199, -60, 0xc, 1050);
  event(200, 5, 0xd, 1055);
  event(450, -40, 0xb, 1015);
  const DeviceMemory& memory = devices()[0];
  ASSERT_EQ(memory.steps.size(), 3u);
  const StepMemory& first = memory.steps[0];
  EXPECT_EQ(first.number, 3);
  EXPECT_EQ(first.begin_bytes, 1010);
  EXPECT_EQ(first.end_bytes, 1050);
  EXPECT_EQ(first.kept_bytes, 40);
  EXPECT_EQ(first.peak_bytes, 1110);
  EXPECT_EQ(first.alloc_bytes, 100);
  EXPECT_EQ(first.free_bytes, 60);
  EXPECT_EQ(first.allocs, 2);
  EXPECT_EQ(first.frees, 1);
  EXPECT_EQ(memory.steps[1].begin_bytes, 1050);
  EXPECT_EQ(memory.steps[1].end_bytes, 1055);
  EXPECT_EQ(memory.steps[2].begin_bytes, 1055);
  EXPECT_EQ(memory.steps[2].peak_bytes, 1055);
  EXPECT_EQ(memory.steps[2].allocs, 0);
  EXPECT_EQ(step_at(source_.trace, 199), 0u);
  EXPECT_EQ(step_at(source_.trace, 200), 1u);
  EXPECT_EQ(step_at(source_.trace, 99), kNone);
  EXPECT_EQ(step_at(source_.trace, 400), kNone);
}

// Long enough that the sums over whole blocks of events are used, at every alignment of the step's ends.
TEST_F(MemoryTest, MeasuresStepsOfManyEvents) {
  constexpr std::int64_t kEvents = 3000;
  for (std::int64_t i = 0; i < kEvents; ++i) event(i, i % 3 == 2 ? -(i % 7 + 1) : i % 5 + 1, kUnknownAddress);
  const std::pair<std::int64_t, std::int64_t> ranges[] = {{0, 3000},   {1, 512},   {511, 1025},
                                                          {512, 1024}, {700, 701}, {5, 2999}};
  int number = 0;
  for (const auto& [begin, end] : ranges) {
    span("ProfilerStep#" + std::to_string(number++), begin, end, SpanKind::annotation);
  }
  const DeviceMemory& memory = devices()[0];
  ASSERT_EQ(memory.steps.size(), std::size(ranges));
  for (const StepMemory& step : memory.steps) {
    const auto& [begin, end] = ranges[step.number];
    StepMemory want;
    want.peak_bytes = memory.level_after(static_cast<std::size_t>(begin));
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t bytes = source_.trace.memory.bytes[static_cast<std::size_t>(i)];
      want.peak_bytes = std::max(want.peak_bytes, memory.allocated[static_cast<std::size_t>(i)]);
      (bytes > 0 ? want.alloc_bytes : want.free_bytes) += bytes > 0 ? bytes : -bytes;
      ++(bytes > 0 ? want.allocs : want.frees);
    }
    EXPECT_EQ(step.peak_bytes, want.peak_bytes) << step.number;
    EXPECT_EQ(step.alloc_bytes, want.alloc_bytes) << step.number;
    EXPECT_EQ(step.free_bytes, want.free_bytes) << step.number;
    EXPECT_EQ(step.allocs, want.allocs) << step.number;
    EXPECT_EQ(step.frees, want.frees) << step.number;
  }
}

TEST_F(MemoryTest, TellsWhatIsLiveByOperatorStackAndStep) {
  span("ProfilerStep#1", 100, 200, SpanKind::annotation);
  span("aten::linear", 110, 140, SpanKind::cpu_op, "train.py(5): step;train.py(9): main");
  span("aten::empty", 115, 130, SpanKind::cpu_op);
  span("cudaMalloc", 116, 120, SpanKind::runtime_api);
  span("aten::zeros", 150, 170, SpanKind::cpu_op, "train.py(6): step;train.py(9): main");
  event(117, 100, 0xa, 1100);  // in cudaMalloc, in aten::empty
  event(125, 30, 0xb, 1130);   // in aten::empty
  event(155, 500, 0xc, 1630);  // in aten::zeros
  event(160, -500, 0xc, 1130);
  event(300, 7, 0xd, 1137);  // outside
  const DeviceMemory& memory = devices()[0];
  EXPECT_EQ(memory.peak, 2u);

  std::vector<LiveGroup> groups = live(3, LiveBy::op_and_stack);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].op, "aten::zeros");
  EXPECT_EQ(groups[0].bytes, 500);
  EXPECT_EQ(groups[1].op, "aten::empty");
  EXPECT_EQ(groups[1].bytes, 130);
  EXPECT_EQ(groups[1].count, 2);
  const std::vector<StringId> stack = source_.trace.stack_of_memory(groups[1].first_event);
  ASSERT_EQ(stack.size(), 2u);
  EXPECT_EQ(source_.trace.strings.view(stack[0]), "train.py(5): step");

  EXPECT_EQ(live(3, LiveBy::outer_op_and_stack)[1].outer_op, "aten::linear");

  groups = live(5, LiveBy::step);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].step, 0u);
  EXPECT_EQ(groups[0].bytes, 130);
  EXPECT_EQ(groups[1].step, kNone);
  EXPECT_EQ(groups[1].bytes, 7);
  EXPECT_EQ(live(5, LiveBy::op)[1].op, kOutsideAnyOp);

  EXPECT_EQ(before_recording_bytes(memory, 3, 630), 1000);
  EXPECT_FALSE(before_recording_bytes(memory, 3, 1631).has_value()) << "more is live than the totals cover";
}

TEST_F(MemoryTest, GroupsEqualPythonStacksOfDifferentCalls) {
  span("train.py(9): main", 0, 900, SpanKind::python_call);
  for (const std::int64_t start : {100, 200}) {
    span("train.py(5): step", start, start + 50, SpanKind::python_call);
    event(start + 10, 64, static_cast<std::uint64_t>(start), kUnknown);
  }
  event(300, 32, 0xd, kUnknown);
  devices();
  const std::vector<LiveGroup> groups = live(3, LiveBy::stack);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].bytes, 128);
  EXPECT_EQ(groups[0].count, 2);
  EXPECT_EQ(source_.trace.stack_of_memory(groups[0].first_event).size(), 2u);
  EXPECT_EQ(groups[1].bytes, 32);
}

TEST_F(MemoryTest, LiveAtATimeCountsWhatHappensAtThatVeryTime) {
  event(10, 100, 0xa);
  event(20, 50, 0xb);
  event(20, -100, 0xa);
  event(30, -50, 0xb);
  const DeviceMemory& memory = devices()[0];
  const auto bytes_at = [&](std::int64_t time_ns) { return sum_of(live_at(source_.trace, pairs_, memory, time_ns)); };
  EXPECT_EQ(bytes_at(9), 0);
  EXPECT_EQ(bytes_at(10), 100);
  EXPECT_EQ(bytes_at(20), 50);
  EXPECT_EQ(bytes_at(30), 0);
}

TEST_F(MemoryTest, FindsMoments) {
  span("ProfilerStep#7", 100, 200, SpanKind::annotation);
  event(100, 10, 0xa);
  event(150, 20, 0xb);
  event(200, -10, 0xa);
  event(600, -20, 0xb);
  const DeviceMemory& memory = devices()[0];
  const auto count_at = [&](std::string_view text) {
    const std::optional<Moment> moment = parse_moment(text);
    const std::optional<FoundMoment> found = moment ? find_moment(source_, memory, *moment) : std::nullopt;
    return found ? static_cast<int>(found->count) : -1;
  };
  EXPECT_EQ(count_at("peak"), 2);
  EXPECT_EQ(count_at("end"), 4);
  EXPECT_EQ(count_at("step:7"), 2) << "what happens at the end of a step belongs to the next";
  EXPECT_EQ(count_at("step:8"), -1);
  EXPECT_EQ(count_at("150ns"), 2);
  EXPECT_EQ(count_at("0.2us"), 3);
  EXPECT_EQ(count_at("500ns"), 3) << "the last event comes later";
  EXPECT_EQ(count_at("1s"), -1) << "beyond the end";
  EXPECT_EQ(count_at("99999"), -1);
  EXPECT_EQ(count_at("599"), 3);
}

TEST(MemoryMomentTest, ReadsTimesExactly) {
  const auto nanoseconds = [](std::string_view text) { return parse_moment(text).value_or(Moment{}).value; };
  EXPECT_EQ(nanoseconds("1.25s"), 1'250'000'000);
  EXPECT_EQ(nanoseconds("800ms"), 800'000'000);
  EXPECT_EQ(nanoseconds("12.345678901s"), 12'345'678'901);
  EXPECT_EQ(nanoseconds(".5ms"), 500'000);
  EXPECT_EQ(nanoseconds("1700000000000000001"), 1'700'000'000'000'000'001);
  EXPECT_EQ(parse_moment("1700000000000000001")->kind, MomentKind::clock);
  EXPECT_EQ(parse_moment("5ns")->kind, MomentKind::since_start);
}

TEST(MemoryMomentTest, RefusesWhatIsNoMoment) {
  for (const std::string_view text : {"", "s", ".s", "1.5", "-1s", "1..2s", "1e3s", "step:", "step:x", "step:-1", "now",
                                      "99999999999999999999s", "99999999999999999999"}) {
    EXPECT_FALSE(parse_moment(text).has_value()) << text;
  }
}

TEST_F(MemoryTest, ThinsWithoutLosingTheShape) {
  constexpr std::int64_t kEvents = 5000;
  for (std::int64_t i = 0; i < kEvents; ++i) {
    const bool up = i % 2 == 0;
    event(i, i == 3001 ? 900 : (up ? 10 : -10), kUnknownAddress);
  }
  const DeviceMemory& memory = devices()[0];
  for (const std::size_t most : {1u, 2u, 3u, 4u, 5u, 50u, 1000u}) {
    const std::vector<std::size_t> kept = thin_curve(memory, most);
    EXPECT_LE(kept.size(), most);
    EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
    EXPECT_EQ(std::count(kept.begin(), kept.end(), memory.peak), 1) << most;
    if (most >= 3) {
      EXPECT_EQ(kept.front(), 0u);
      EXPECT_EQ(kept.back(), static_cast<std::size_t>(kEvents - 1));
    }
    if (most >= 5) {
      EXPECT_EQ(std::count(kept.begin(), kept.end(), memory.lowest), 1) << most;
    }
  }
  EXPECT_EQ(thin_curve(memory, 5000).size(), 5000u);
  EXPECT_GE(thin_curve(memory, 1000).size(), 900u);
}

TEST_F(MemoryTest, HasNoDevicesWithoutEvents) {
  EXPECT_TRUE(devices().empty());
}

}  // namespace
}  // namespace vramscope
