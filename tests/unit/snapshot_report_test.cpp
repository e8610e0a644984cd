#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "allocator_log.h"
#include "analysis/snapshot_moment.h"
#include "report/allocator_summary.h"
#include "report/snapshot_growth.h"
#include "report/thin_levels.h"
#include "text/date.h"

namespace vramscope {
namespace {

constexpr std::int64_t kMiB = 1024 * 1024;

TEST(SnapshotMomentTest, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_snapshot_moment("snapshot")->kind, SnapshotMomentKind::snapshot);
  EXPECT_EQ(parse_snapshot_moment("peak")->kind, SnapshotMomentKind::peak);
  EXPECT_EQ(parse_snapshot_moment("end")->kind, SnapshotMomentKind::end);
  EXPECT_EQ(parse_snapshot_moment("oom")->value, 0);
  EXPECT_EQ(parse_snapshot_moment("oom:2")->value, 2);
  EXPECT_EQ(parse_snapshot_moment("entry:0")->value, 0);
  EXPECT_EQ(parse_snapshot_moment("1.5us")->value, 1500);
  for (const char* wrong :
       {"", "oom:", "oom:0", "oom:-1", "oom:1x", "entry:", "entry:99999999999999999999", "step:3"}) {
    EXPECT_FALSE(parse_snapshot_moment(wrong)) << wrong;
  }
}

TEST(SnapshotMomentTest, FindsThePlaceInTheLog) {
  LogMaker maker;
  maker.alloc(0x1000, 100).entry(AllocatorAction::oom, kUnknownAddress, 7).free(0x1000, 100);
  maker.entry(AllocatorAction::oom, kUnknownAddress, 8);
  const AllocatorDevice& device = maker.device;
  const auto at = [&](const char* text) {
    return find_snapshot_moment(device, replay_log(device), *parse_snapshot_moment(text));
  };
  EXPECT_EQ(at("oom:1"), 1u);
  EXPECT_EQ(at("oom"), 4u);
  EXPECT_EQ(at("oom:3"), std::nullopt);
  EXPECT_EQ(at("peak"), 1u);
  EXPECT_EQ(at("entry:5"), 5u);
  EXPECT_EQ(at("entry:6"), std::nullopt);
  EXPECT_EQ(at("0ns"), 1u);  // the first entry has happened then
  EXPECT_EQ(at("150ns"), 2u);
  EXPECT_EQ(at("401ns"), std::nullopt);
  EXPECT_EQ(at("1200"), 3u);
  EXPECT_EQ(at("999"), std::nullopt);
  EXPECT_FALSE(has_snapshot_moment(device, *parse_snapshot_moment("oom:3")));
}

TEST(SnapshotMomentTest, FindsNoTimeWhereTheLogHasNone) {
  LogMaker maker;
  maker.has_times = false;
  maker.alloc(0x1000, 100);
  EXPECT_FALSE(has_snapshot_moment(maker.device, *parse_snapshot_moment("0ns")));
  EXPECT_TRUE(has_snapshot_moment(maker.device, *parse_snapshot_moment("peak")));
}

SnapshotDevice facts_of(const AllocatorDevice& device) {
  SnapshotDevice facts;
  facts.device = &device;
  facts.replay = replay_log(device);
  facts.use = measure_segments(device);
  return facts;
}

std::optional<std::int64_t> value_of(const AllocatorSummary& summary, const std::string& name) {
  for (const auto& [key, value] : summary_values(summary)) {
    if (key == name) return value;
  }
  return std::nullopt;
}

TEST(AllocatorSummaryTest, FillsPeaksOnlyFromALogThatBeginsWithTheFirstSegment) {
  LogMaker maker;
  maker.entry(AllocatorAction::segment_alloc, 0x100000, 8 * kMiB);
  maker.alloc(0x100000, 3 * kMiB).alloc(0x100000 + 4 * kMiB, 2 * kMiB).free(0x100000 + 4 * kMiB, 2 * kMiB);
  maker.segment(0x100000).block(BlockState::allocated, 4 * kMiB, 3 * kMiB).block(BlockState::free, 4 * kMiB);
  const AllocatorSummary complete = summarise(facts_of(maker.device), {});
  EXPECT_EQ(value_of(complete, "requested_bytes.all.peak"), 5 * kMiB);
  EXPECT_EQ(value_of(complete, "requested_bytes.all.allocated"), 5 * kMiB);
  EXPECT_EQ(value_of(complete, "requested_bytes.all.freed"), 2 * kMiB);
  EXPECT_EQ(value_of(complete, "reserved_bytes.all.peak"), 8 * kMiB);
  EXPECT_EQ(value_of(complete, "allocated_bytes.all.current"), 4 * kMiB);
  EXPECT_EQ(value_of(complete, "allocated_bytes.all.peak"), std::nullopt);  // rounded sizes are not in the log
  EXPECT_EQ(value_of(complete, "num_ooms"), 0);

  LogMaker late;  // the same without the segment's entry: it was there before
  late.alloc(0x100000, 3 * kMiB);
  late.segment(0x100000).block(BlockState::allocated, 4 * kMiB, 3 * kMiB).block(BlockState::free, 4 * kMiB);
  const AllocatorSummary partial = summarise(facts_of(late.device), {});
  EXPECT_EQ(value_of(partial, "requested_bytes.all.current"), 3 * kMiB);
  EXPECT_EQ(value_of(partial, "requested_bytes.all.peak"), std::nullopt);
  EXPECT_EQ(value_of(partial, "num_ooms"), std::nullopt);
}

TEST(AllocatorSummaryTest, CountsOversizeByTheSetting) {
  LogMaker maker;
  maker.segment(0x100000).block(BlockState::allocated, 4 * kMiB, 4 * kMiB).block(BlockState::allocated, kMiB, kMiB);
  MemoryState state;
  EXPECT_EQ(value_of(summarise(facts_of(maker.device), state), "oversize_allocations.current"), std::nullopt);
  state.settings["max_split_size"] = "-1";
  EXPECT_EQ(value_of(summarise(facts_of(maker.device), state), "oversize_allocations.current"), 0);
  state.settings["max_split_size"] = "2097152";
  const AllocatorSummary summary = summarise(facts_of(maker.device), state);
  EXPECT_EQ(value_of(summary, "oversize_allocations.current"), 1);
  EXPECT_EQ(value_of(summary, "oversize_segments.current"), 1);
  EXPECT_EQ(value_of(summary, "oversize_allocations.peak"), std::nullopt);
}

TEST(AllocatorSummaryTest, IsAsWideAsPyTorchs) {
  LogMaker maker;
  maker.segment(0x100000).block(BlockState::allocated, std::numeric_limits<std::int64_t>::max() / 2, kMiB);
  const std::string table = summary_table(summarise(facts_of(maker.device), {}), false);
  std::size_t lines = 0;
  for (std::size_t at = 0; at < table.size(); ++lines) {
    const std::size_t end = table.find('\n', at);
    EXPECT_EQ(end - at, kSummaryColumns) << table.substr(at, end - at);
    at = end + 1;
  }
  EXPECT_EQ(lines, 47u);
}

TEST(HoldersTest, OfTheSnapshotAreTheActiveBlocks) {
  Case input;
  input.sources.emplace_back();
  Source& source = input.sources[0];
  const StackId here = add_stack(source, {"/home/me/train.py(1): main", "/home/me/train.py(2): step"});
  LogMaker maker;
  maker.alloc(0x100000, 1000, here);
  maker.segment(0x100000)
      .block(BlockState::allocated, 1024, 1000, here)
      .block(BlockState::pending_free, 512, kUnknown)
      .block(BlockState::free, 512, 500, here);
  source.memory_state.emplace();
  source.memory_state->devices.push_back(std::move(maker.device));
  const std::vector<SnapshotDevice> devices = measure_snapshot(source, input, {});
  ASSERT_EQ(devices.size(), 1u);
  const std::optional<Holders> held = holders_at(source, devices[0], SnapshotMoment{}, HeldBy::stack);
  ASSERT_TRUE(held);
  EXPECT_EQ(held->bytes, 1512);
  EXPECT_EQ(held->rounded_bytes, 512);  // nobody knows what was asked for
  EXPECT_EQ(held->allocations, 2);
  ASSERT_EQ(held->groups.size(), 2u);
  EXPECT_EQ(held->groups[0].stack, here);
  EXPECT_EQ(held->groups[0].bytes, 1000);
}

TEST(SnapshotGrowthTest, ComparesStacksByTheirTextInOrderOfTime) {
  Case input;
  input.sources.resize(3);
  const auto fill = [&](std::size_t at, std::int64_t kept, std::int64_t time_ns) {
    Source& source = input.sources[at];
    if (at == 1) add_stack(source, {"/home/me/other.py(1): f"});  // ids differ from file to file
    const StackId stack = add_stack(source, {"/home/me/cache.py(5): keep"});
    LogMaker maker;
    maker.entry(AllocatorAction::snapshot, kUnknownAddress, 0);
    maker.device.log.time_ns[0] = time_ns;
    maker.segment(0x100000);
    for (std::int64_t i = 0; i < kept; ++i) maker.block(BlockState::allocated, 512, 500, stack);
    source.memory_state.emplace();
    source.memory_state->devices.push_back(std::move(maker.device));
  };
  fill(0, 9, 3000);
  fill(1, 2, 1000);
  fill(2, 5, 2000);
  const SnapshotOrder order = order_snapshots(input);
  EXPECT_TRUE(order.is_by_time);
  ASSERT_EQ(order.sources, (std::vector<const Source*>{&input.sources[1], &input.sources[2], &input.sources[0]}));
  const std::vector<DeviceSeries> all = snapshot_series(order, {});
  ASSERT_EQ(all.size(), 1u);
  ASSERT_EQ(all[0].stacks.size(), 1u);
  EXPECT_EQ(all[0].stacks[0].counts, (std::vector<std::int64_t>{2, 5, 9}));
  EXPECT_EQ(all[0].stacks[0].grown_bytes(), 3500);
  EXPECT_TRUE(all[0].stacks[0].is_rising());

  input.sources[1].memory_state->devices[0].log.time_ns[0] = kUnknown;
  EXPECT_FALSE(order_snapshots(input).is_by_time);
  EXPECT_EQ(order_snapshots(input).sources.front(), &input.sources[0]);
}

TEST(ThinLevelsTest, KeepsThePeakTheEndsAndTheExtremes) {
  const auto level = [](std::size_t i) { return i == 777 ? std::int64_t{5000} : static_cast<std::int64_t>(i % 10); };
  const std::vector<std::size_t> kept = thin_levels(1000, 777, 20, level);
  EXPECT_LE(kept.size(), 20u);
  EXPECT_EQ(kept.front(), 0u);
  EXPECT_EQ(kept.back(), 999u);
  EXPECT_NE(std::find(kept.begin(), kept.end(), 777u), kept.end());
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
  EXPECT_EQ(thin_levels(1000, 777, 1, level), std::vector<std::size_t>{777});
  EXPECT_EQ(thin_levels(3, 1, 20, level), (std::vector<std::size_t>{0, 1, 2}));
}

TEST(DateTest, HoldsForEveryTime) {
  EXPECT_EQ(format_utc(1'714'567'896'999'999'999), "2024-05-01 12:51:36 UTC");
  EXPECT_EQ(format_utc(-1), "1969-12-31 23:59:59 UTC");
  EXPECT_EQ(format_utc(std::numeric_limits<std::int64_t>::min()), "1677-09-21 00:12:43 UTC");
}

}  // namespace
}  // namespace vramscope
