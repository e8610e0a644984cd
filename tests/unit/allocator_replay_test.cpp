#include "analysis/allocator_replay.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "allocator_log.h"
#include "analysis/oom_cause.h"
#include "analysis/segment_use.h"

namespace vramscope {
namespace {

using enum AllocatorAction;
constexpr std::int64_t kMiB = 1 << 20;

TEST(AllocatorReplay, WithoutALogTheBlocksAreAll) {
  LogMaker made;
  made.segment(0x1000).block(BlockState::allocated, 512, 100).block(BlockState::free, 512, 77);
  made.block(BlockState::pending_free, 1024, 1000).block(BlockState::allocated, 2048);
  const Replay replay = replay_log(made.device);
  EXPECT_EQ(replay.mismatch, EndMismatch::no_log);
  EXPECT_EQ(replay.end_bytes, 100 + 1000 + 2048);
  EXPECT_EQ(replay.end_blocks_bytes, 100 + 1000 + 2048);
  EXPECT_EQ(replay.baseline_count, 3);
  EXPECT_EQ(replay.baseline_rounded_bytes, 2048);
  EXPECT_EQ(replay.peak_bytes, 3148);
  EXPECT_EQ(replay.peak_count, 0u);
  EXPECT_EQ(replay.reserved_after(0), 4096);
  EXPECT_EQ(replay.first_time_ns, kUnknown);
}

TEST(AllocatorReplay, AnEntryThatIsOnlyASnapshotIsNoLog) {
  LogMaker made;
  made.segment(0x1000).block(BlockState::allocated, 512, 100);
  made.entry(snapshot, 0, 512);
  EXPECT_EQ(replay_log(made.device).mismatch, EndMismatch::no_log);
}

TEST(AllocatorReplay, RewindsTheBaseline) {
  LogMaker made;
  made.segment(0x1000).block(BlockState::allocated, 512, 500, 7).block(BlockState::free, 512);
  made.free(0x1200, 300).alloc(0x1200, 200).free(0x1200, 200);
  const Replay replay = replay_log(made.device);
  EXPECT_EQ(replay.baseline_bytes, 800);
  EXPECT_EQ(replay.baseline_count, 2);
  EXPECT_EQ(replay.frees_without_alloc, 1);
  EXPECT_EQ(replay.frees, 2);
  EXPECT_EQ(replay.peak_bytes, 800);
  EXPECT_EQ(replay.peak_count, 0u);
  ASSERT_EQ(replay.allocations.size(), 3u);
  EXPECT_EQ(replay.allocations[0].stack, 7u);  // the block's
  EXPECT_EQ(replay.allocations[0].block, 0u);
  EXPECT_EQ(replay.allocations[1].stack, 0u);  // freed in the log: where it was made is not known
  EXPECT_EQ(replay.live_bytes[0], 800);        // a requested free has not happened yet
  EXPECT_EQ(replay.live_bytes[1], 500);
  EXPECT_EQ(replay.live_bytes[2], 700);
  EXPECT_EQ(replay.end_bytes, 500);
  EXPECT_EQ(replay.mismatch, EndMismatch::none);
  EXPECT_EQ(live_allocations(replay, 0).size(), 2u);
  EXPECT_EQ(live_allocations(replay, 2).size(), 1u);
  EXPECT_EQ(live_allocations(replay, 3).size(), 2u);
}

TEST(AllocatorReplay, PendingFreesLiveUntilCompleted) {
  LogMaker made;
  made.segment(0x1000).block(BlockState::pending_free, 512, 500).block(BlockState::allocated, 512, 400);
  made.alloc(0x1000, 500).alloc(0x1200, 400).alloc(0x1400, 5).free(0x1400, 5);
  made.entry(free_requested, 0x1000, 500);
  const Replay replay = replay_log(made.device);
  EXPECT_EQ(replay.end_bytes, 900);
  EXPECT_EQ(replay.frees, 1);
  EXPECT_EQ(replay.mismatch, EndMismatch::none);
}

TEST(AllocatorReplay, RequestedFreesEndAllocationsWhereNoneIsCompleted) {
  LogMaker made;
  made.segment(0x1000).block(BlockState::pending_free, 512, 500);
  made.alloc(0x1000, 500).alloc(0x1200, 400);
  made.entry(free_requested, 0x1200, 400).entry(free_requested, 0x1000, 500);
  const Replay replay = replay_log(made.device);
  EXPECT_EQ(replay.live_after(3), 500);
  EXPECT_EQ(replay.end_bytes, 500);  // its block says that it has not been completed
  EXPECT_EQ(replay.frees, 1);
  EXPECT_EQ(replay.allocations[0].end, kNone);
  EXPECT_EQ(replay.mismatch, EndMismatch::none);
}

TEST(AllocatorReplay, SnapshotsWrittenAfterFurtherFreesAreTold) {
  LogMaker made;
  made.segment(0x1000).block(BlockState::allocated, 512, 500).block(BlockState::free, 4096);
  made.alloc(0x1000, 500).alloc(0x1200, 4000).entry(oom, kUnknownAddress, 9000);
  const Replay replay = replay_log(made.device);
  EXPECT_EQ(replay.mismatch, EndMismatch::freed_after_log);
  EXPECT_EQ(replay.end_bytes, 4500);
  EXPECT_EQ(replay.end_blocks_bytes, 500);
  EXPECT_EQ(replay.ooms, 1);
}

TEST(AllocatorReplay, BlocksThatTheLogFreedLastAreNotInIt) {
  LogMaker made;
  made.segment(0x1000).block(BlockState::allocated, 512, 500).block(BlockState::allocated, 512, 300);
  made.alloc(0x1000, 500).free(0x1000, 500).free(0x1200, 300);
  const Replay replay = replay_log(made.device);
  EXPECT_EQ(replay.mismatch, EndMismatch::log_incomplete);
  EXPECT_EQ(replay.end_bytes, 0);
  EXPECT_EQ(replay.end_blocks_bytes, 800);
  EXPECT_EQ(replay.baseline_bytes, 300);
}

TEST(AllocatorReplay, ABlockOfAnotherSizeIsAnotherAllocation) {
  LogMaker made;
  made.segment(0x1000).block(BlockState::allocated, 512, 500);
  made.alloc(0x1000, 444);
  const Replay replay = replay_log(made.device);
  EXPECT_EQ(replay.allocations[0].block, kNone);
  EXPECT_EQ(replay.mismatch, EndMismatch::log_incomplete);
}

TEST(AllocatorReplay, AddressesComeAgain) {
  LogMaker made;
  made.alloc(0x1000, 10, 1).free(0x1000, 10).alloc(0x1000, 20, 2).alloc(0x1000, 30, 3).free(0x1000, 30);
  const Replay replay = replay_log(made.device);
  EXPECT_EQ(replay.allocs_over_live, 1);
  EXPECT_EQ(replay.frees_without_alloc, 0);
  EXPECT_EQ(replay.live_after(5), 30);
  EXPECT_EQ(replay.end_bytes, 0);
  EXPECT_EQ(replay.peak_bytes, 30);
  EXPECT_EQ(replay.peak_count, 5u);
}

TEST(AllocatorReplay, ASecondFreeIsNoBaseline) {
  LogMaker made;
  made.free(0x1000, 10).free(0x1000, 99);
  const Replay replay = replay_log(made.device);
  EXPECT_EQ(replay.frees_without_alloc, 2);
  EXPECT_EQ(replay.frees, 1);
  EXPECT_EQ(replay.baseline_bytes, 10);
  EXPECT_EQ(replay.end_bytes, 0);
}

TEST(AllocatorReplay, ReservedBytesAreRewoundFromTheSegments) {
  LogMaker made;
  made.segment(0x1000).block(BlockState::free, 2 * kMiB);
  made.entry(segment_free, 0x900000, 20 * kMiB).entry(segment_map, 0x1000, 2 * kMiB);
  const Replay replay = replay_log(made.device);
  EXPECT_EQ(replay.reserved_after(0), 20 * kMiB);
  EXPECT_EQ(replay.reserved_after(1), 0);
  EXPECT_EQ(replay.reserved_after(2), 2 * kMiB);
  EXPECT_EQ(replay.device_allocs, 1);
  EXPECT_EQ(replay.device_frees, 1);
}

TEST(AllocatorReplay, ReservedBytesAreNeverNegative) {
  LogMaker made;  // the segment was given back after the log
  made.entry(segment_alloc, 0x900000, 20 * kMiB);
  const Replay replay = replay_log(made.device);
  EXPECT_EQ(replay.reserved_after(0), 0);
  EXPECT_EQ(replay.reserved_after(1), 20 * kMiB);
}

TEST(AllocatorReplay, TimesAreFoundOrUnknown) {
  LogMaker made;
  made.alloc(1, 1).alloc(2, 1).alloc(3, 1);
  EXPECT_EQ(entries_until(made.device.log, 999), 0u);
  EXPECT_EQ(entries_until(made.device.log, 1'100), 2u);
  EXPECT_EQ(entries_until(made.device.log, 9'999), 3u);
  EXPECT_EQ(replay_log(made.device).last_time_ns, 1'200);
  LogMaker timeless;
  timeless.has_times = false;
  timeless.alloc(1, 1);
  EXPECT_EQ(entries_until(timeless.device.log, 1'100), std::nullopt);
}

TEST(AllocatorChurn, CountsWhatIsFreedSoon) {
  LogMaker made;
  made.alloc(0x10, 100, 1).free(0x10, 100).alloc(0x10, 40, 2).free(0x10, 40).alloc(0x20, 100, 2).free(0x20, 100);
  made.alloc(0x30, 5'000, 3);
  for (int i = 0; i < 40; ++i) made.alloc(0x40, 1, 4).free(0x40, 1);
  made.free(0x30, 5'000);
  const Churn churn = measure_churn(made.device, replay_log(made.device));
  EXPECT_EQ(churn.window_entries, 64);
  EXPECT_EQ(churn.short_lived, 43);
  EXPECT_EQ(churn.short_lived_bytes, 280);
  ASSERT_EQ(churn.groups.size(), 3u);  // not stack 3
  EXPECT_EQ(churn.groups[0].stack, 2u);
  EXPECT_EQ(churn.groups[0].count, 2);
  EXPECT_EQ(churn.groups[0].bytes, 140);
}

TEST(AllocatorChurn, CountsSegmentsTakenAgain) {
  LogMaker made;
  made.entry(segment_alloc, 0x1000, 20 * kMiB, 1).entry(segment_alloc, 0x9000, 30 * kMiB, 1);
  made.entry(segment_free, 0x1000, 20 * kMiB).entry(segment_alloc, 0x1000, 40 * kMiB, 2);
  made.entry(segment_alloc, 0x2000, 20 * kMiB, 3).entry(segment_alloc, 0x3000, 20 * kMiB, 3);
  // Pages that were mapped one by one are given back in one piece.
  made.entry(segment_unmap, 0x100000, 60 * kMiB).entry(segment_map, 0x100000, 20 * kMiB, 4);
  made.entry(segment_map, 0x200000, 60 * kMiB, 4).entry(segment_map, 0x300000, 20 * kMiB, 4);
  const Churn churn = measure_churn(made.device, replay_log(made.device));
  EXPECT_EQ(churn.segment_allocs, 8);
  EXPECT_EQ(churn.segment_frees, 2);
  EXPECT_EQ(churn.segments_taken_again, 3);
  EXPECT_EQ(churn.segments_taken_again_bytes, (20 + 20 + 40) * kMiB);
  EXPECT_EQ(churn.first_taken_again, 4);
  ASSERT_EQ(churn.segment_groups.size(), 2u);
  EXPECT_EQ(churn.segment_groups[0].stack, 4u);
  EXPECT_EQ(churn.segment_groups[0].count, 2);
}

TEST(AllocatorHoles, CannotBeToldWhereALiveAddressLiesInNoSegment) {
  LogMaker made;
  made.segment(0x10000).block(BlockState::free, 4 * kMiB);
  made.alloc(0x10, 100);
  EXPECT_EQ(holes_after(made.device, replay_log(made.device), 1, 0, true), std::nullopt);
  const auto before = holes_after(made.device, replay_log(made.device), 0, 0, true);
  ASSERT_TRUE(before.has_value());
  EXPECT_EQ(before->whole_segment_bytes, 4 * kMiB);
  LogMaker nothing;
  nothing.alloc(0x10, 100);
  EXPECT_EQ(holes_after(nothing.device, replay_log(nothing.device), 0, 0, true), std::nullopt);
}

TEST(AllocatorHoles, PrivatePoolsAreLeftOut) {
  LogMaker made;
  made.segment(0x1000000, SegmentPool::large, 0, 1)
      .block(BlockState::allocated, 8 * kMiB)
      .block(BlockState::free, kMiB * 4);
  made.segment(0x9000000, SegmentPool::large, 0, 2)
      .block(BlockState::allocated, kMiB * 2)
      .block(BlockState::free, kMiB * 6);
  const auto holes = holes_after(made.device, replay_log(made.device), 0, 0, true);
  ASSERT_TRUE(holes.has_value());
  EXPECT_EQ(holes->largest_bytes, 4 * kMiB);
  EXPECT_EQ(holes->count, 1);
}

// Whatever a file holds: no overflow (the sanitizers look on), no crash, and sums that keep their ends.
TEST(AllocatorReplay, WithstandsAnyNumbers) {
  constexpr std::int64_t kNumbers[] = {0,
                                       1,
                                       -1,
                                       511,
                                       kUnknown,
                                       std::numeric_limits<std::int64_t>::min() + 1,
                                       std::numeric_limits<std::int64_t>::max(),
                                       std::numeric_limits<std::int64_t>::max() - 1,
                                       std::int64_t{1} << 62};
  std::mt19937_64 random(5);
  const auto number = [&] { return kNumbers[random() % std::size(kNumbers)]; };
  for (int run = 0; run < 300; ++run) {
    LogMaker made;
    MemoryState state;
    state.notes.resize(2);
    state.notes[0].device_free_bytes = number();
    for (std::uint64_t left = random() % 4; left > 0; --left) {
      Segment segment;
      segment.address = static_cast<std::uint64_t>(number());
      segment.total_bytes = number();
      segment.stream = number();
      segment.type = static_cast<SegmentPool>(random() % 3);
      segment.is_expandable = random() % 2 == 0;
      segment.first_block = static_cast<std::uint32_t>(made.device.blocks.size());
      for (std::uint64_t more = random() % 5; more > 0; --more) {
        made.device.blocks.push_back({static_cast<std::uint64_t>(number()), number(), number(),
                                      static_cast<StackId>(random() % 3), static_cast<BlockState>(random() % 4)});
      }
      segment.last_block = static_cast<std::uint32_t>(made.device.blocks.size() + random() % 2);
      made.device.segments.push_back(segment);
    }
    for (std::uint64_t left = random() % 40; left > 0; --left) {
      made.entry(static_cast<AllocatorAction>(random() % 10), static_cast<std::uint64_t>(number()), number(),
                 static_cast<StackId>(random() % 3), static_cast<std::uint32_t>(random() % 3), number());
    }
    const Replay replay = replay_log(made.device);
    const Churn churn = measure_churn(made.device, replay);
    const SegmentUse use = measure_segments(made.device);
    EXPECT_GE(use.free_bytes, 0);
    EXPECT_GE(churn.short_lived_bytes, 0);
    EXPECT_GE(inconsistent_segments(made.device), 0);
    for (std::size_t count = 0; count <= made.device.log.size(); count += 7) {
      for (const bool is_large : {false, true}) {
        const auto holes = holes_after(made.device, replay, count, 0, is_large);
        EXPECT_TRUE(!holes || holes->free_bytes >= holes->largest_bytes);
      }
    }
    for (const OutOfMemory& event : oom_events(made.device, replay, state, number())) {
      const OomVerdict verdict = explain_oom(event, state.settings);
      EXPECT_LE(verdict.confidence, 1);
    }
  }
}

}  // namespace
}  // namespace vramscope
