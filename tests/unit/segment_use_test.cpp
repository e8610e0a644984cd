#include "analysis/segment_use.h"

#include <gtest/gtest.h>

#include "allocator_log.h"

namespace vramscope {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

TEST(SegmentUse, EmptyDeviceHasNoFragmentation) {
  const SegmentUse use = measure_segments(AllocatorDevice());
  EXPECT_EQ(use.reserved_bytes.all, 0);
  EXPECT_EQ(use.torch_fragmentation, std::nullopt);
  EXPECT_EQ(use.rounding_bytes, std::nullopt);
  EXPECT_TRUE(use.size_classes.empty());
}

TEST(SegmentUse, FragmentationIsThatOfPyTorchsViewer) {
  LogMaker made;
  made.segment(0x1000).block(BlockState::free, 30).block(BlockState::allocated, 40).block(BlockState::free, 30);
  made.segment(0x9000).block(BlockState::allocated, 100);
  // (30² + 30²) / 200²
  EXPECT_DOUBLE_EQ(measure_segments(made.device).torch_fragmentation.value(), 0.045);
}

TEST(SegmentUse, FullSegmentsHaveNoFragmentation) {
  LogMaker made;
  made.segment(0x1000).block(BlockState::allocated, 40);
  EXPECT_EQ(measure_segments(made.device).torch_fragmentation, std::nullopt);
}

TEST(SegmentUse, RoundingIsOfActiveBlocksWhoseRequestIsKnown) {
  LogMaker made;
  made.segment(0x1000, SegmentPool::small).block(BlockState::allocated, 512, 100).block(BlockState::free, 1024, 3);
  made.block(BlockState::pending_free, 1024, 1000).block(BlockState::allocated, 512);
  const SegmentUse use = measure_segments(made.device);
  EXPECT_EQ(use.rounding_bytes, 412 + 24);
  EXPECT_EQ(use.requested_bytes.all, 1100);
  EXPECT_EQ(use.requested_bytes.small, 1100);
  EXPECT_EQ(use.requested_bytes.large, 0);
  EXPECT_EQ(use.pending_free_bytes, 1024);
  EXPECT_EQ(use.allocated_bytes.all, 1024);
  EXPECT_EQ(use.active_bytes.all, 2048);
  EXPECT_EQ(use.allocations.all, 2);
  EXPECT_EQ(use.active_blocks.all, 3);
}

TEST(SegmentUse, ExpandableSegmentsHaveNoInactiveSplits) {
  LogMaker made;
  made.segment(0x1000).block(BlockState::allocated, 512).block(BlockState::free, 512);
  made.segment(0x9000).block(BlockState::allocated, 512).block(BlockState::free, 2048);
  made.device.segments.back().is_expandable = true;
  const SegmentUse use = measure_segments(made.device);
  EXPECT_EQ(use.inactive_split_bytes.all, 512);
  EXPECT_EQ(use.inactive_splits.all, 1);
  EXPECT_EQ(use.free_bytes, 2560);
}

TEST(SegmentUse, WholeFreePagesOfExpandableSegmentsCanGoBack) {
  constexpr std::int64_t kMib = 1 << 20;
  LogMaker made;
  // Pages of 20 MiB: [0, 10) in use, [10, 65) free holds the pages at 20 and 40, [65, 80) in use.
  made.segment(0x100000000, SegmentPool::large)
      .block(BlockState::allocated, 10 * kMib)
      .block(BlockState::free, 55 * kMib)
      .block(BlockState::allocated, 15 * kMib);
  made.device.segments.back().is_expandable = true;
  // Not expandable: nothing goes back while one block is in use.
  made.segment(0x200000000, SegmentPool::large).block(BlockState::allocated, kMib).block(BlockState::free, 60 * kMib);
  const SegmentUse use = measure_segments(made.device);
  EXPECT_EQ(use.free_in_used_segments_bytes, 115 * kMib);
  EXPECT_EQ(use.free_pages_bytes, 40 * kMib);
}

TEST(SegmentUse, TheLargestRequestIsOfTheMainStreamAndPool) {
  LogMaker made;
  made.segment(0x1000000, SegmentPool::large, 0, 1)
      .block(BlockState::allocated, 50 * kMiB)
      .block(BlockState::free, 4 * kMiB);
  made.segment(0x9000000, SegmentPool::large, 7, 1).block(BlockState::free, 20 * kMiB);
  made.segment(0xa000000, SegmentPool::large, 0, 2).block(BlockState::free, 10 * kMiB);
  const SegmentUse use = measure_segments(made.device);
  EXPECT_EQ(use.largest_free_block_bytes, 20 * kMiB);
  EXPECT_EQ(use.largest_request_bytes, 4 * kMiB);
  ASSERT_EQ(use.by_stream.size(), 3u);
  EXPECT_EQ(use.by_stream[0].reserved_bytes, 54 * kMiB);
  EXPECT_EQ(use.by_stream[1].stream, 7);
  EXPECT_EQ(use.by_stream[1].largest_free_block_bytes, 20 * kMiB);
  EXPECT_EQ(use.free_segments, 2);
  EXPECT_EQ(use.free_segments_bytes, 30 * kMiB);
}

TEST(SegmentUse, ASmallSegmentServesSmallRequestsAlone) {
  LogMaker made;
  made.segment(0x1000000, SegmentPool::small).block(BlockState::free, 2 * kMiB);
  const SegmentUse use = measure_segments(made.device);
  EXPECT_EQ(use.largest_request_bytes, kMiB);
  ASSERT_EQ(use.size_classes.size(), 1u);
  EXPECT_EQ(use.size_classes[0].request_bytes, 2 * kMiB);
  EXPECT_EQ(use.size_classes[0].free_blocks, 1);
  EXPECT_EQ(use.size_classes[0].could_be_met, 0);
}

TEST(SegmentUse, OddSegmentsAreCounted) {
  LogMaker made;
  made.segment(0x1000).block(BlockState::allocated, 512, 100);
  made.device.segments.back().allocated_bytes = 512;
  made.device.segments.back().requested_bytes = 100;
  EXPECT_EQ(inconsistent_segments(made.device), 0);
  made.device.segments.back().requested_bytes = 99;
  EXPECT_EQ(inconsistent_segments(made.device), 1);
  made.device.segments.back().requested_bytes = kUnknown;
  made.device.segments.back().total_bytes = 1024;
  EXPECT_EQ(inconsistent_segments(made.device), 1);
}

}  // namespace
}  // namespace vramscope
