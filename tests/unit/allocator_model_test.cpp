// The analyses of snapshots against a model of the allocator: hundreds of random programs, whole logs and cut ones.
#include "allocator_model.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "analysis/allocator_live.h"
#include "analysis/allocator_replay.h"
#include "analysis/allocator_sizes.h"
#include "analysis/oom_cause.h"
#include "analysis/segment_use.h"

namespace vramscope {
namespace {

constexpr std::uint64_t kRuns = 400;

struct Program {
  AllocatorModel model;
  bool is_expandable = false;
  std::size_t cut = 0;
  AllocatorDevice device;
  Replay replay;
};

// Seeds 0 to 399: plain and expandable segments, one to three streams, every other log without its beginning.
Program make_program(std::uint64_t seed) {
  AllocatorModel::Options options;
  options.is_expandable = seed % 2 == 1;
  options.streams = static_cast<std::int64_t>(1 + seed / 2 % 3);
  AllocatorModel model(seed, options);
  const std::uint64_t steps = 20 + seed * 7 % 500;
  for (std::uint64_t i = 0; i < steps; ++i) model.step();
  std::size_t cut = 0;
  if (seed / 4 % 2 == 1) cut = model.entries().size() * (seed % 10) / 10;
  AllocatorDevice device = model.snapshot(cut);
  Replay replay = replay_log(device);
  return {std::move(model), options.is_expandable, cut, std::move(device), std::move(replay)};
}

class AllocatorModelTest : public ::testing::Test {
 protected:
  template <typename Check>
  void for_all(const Check& check) {
    for (std::uint64_t seed = 0; seed < kRuns && !HasFailure(); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      const Program each = make_program(seed);
      check(each);
    }
  }
};

TEST_F(AllocatorModelTest, LiveAndReservedBytesAreTheModelsAtEveryEntry) {
  for_all([](const Program& program) {
    const auto& entries = program.model.entries();
    const Replay& replay = program.replay;
    std::int64_t peak = program.cut == 0 ? 0 : entries[program.cut - 1].live_after;
    std::size_t peak_count = 0;
    EXPECT_EQ(replay.baseline_bytes, peak);
    EXPECT_EQ(replay.baseline_reserved_bytes, program.cut == 0 ? 0 : entries[program.cut - 1].reserved_after);
    ASSERT_EQ(replay.live_bytes.size(), entries.size() - program.cut);
    for (std::size_t i = program.cut; i < entries.size(); ++i) {
      ASSERT_EQ(replay.live_bytes[i - program.cut], entries[i].live_after) << "entry " << i;
      ASSERT_EQ(replay.reserved_bytes[i - program.cut], entries[i].reserved_after) << "entry " << i;
      if (entries[i].live_after <= peak) continue;
      peak = entries[i].live_after;
      peak_count = i + 1 - program.cut;
    }
    EXPECT_EQ(replay.peak_bytes, peak);
    EXPECT_EQ(replay.peak_count, peak_count);
    EXPECT_EQ(replay.end_bytes, entries.empty() ? 0 : entries.back().live_after);
    EXPECT_EQ(replay.end_blocks_bytes, replay.end_bytes);
    EXPECT_EQ(replay.baseline_rounded_bytes, 0);
    EXPECT_EQ(replay.mismatch, EndMismatch::none);
  });
}

TEST_F(AllocatorModelTest, CountsAreTheModels) {
  std::int64_t unseen = 0;
  for_all([&](const Program& program) {
    std::int64_t allocs = 0, frees = 0, without_alloc = 0, ooms = 0;
    const auto& entries = program.model.entries();
    for (std::size_t i = program.cut; i < entries.size(); ++i) {
      if (entries[i].action == AllocatorAction::alloc) ++allocs;
      if (entries[i].action == AllocatorAction::oom) ++ooms;
      if (entries[i].action != AllocatorAction::free_completed) continue;
      ++frees;
      if (entries[i].alloc < program.cut) ++without_alloc;
    }
    EXPECT_EQ(program.replay.allocs, allocs);
    EXPECT_EQ(program.replay.frees, frees);
    EXPECT_EQ(program.replay.frees_without_alloc, without_alloc);
    EXPECT_EQ(program.replay.allocs_over_live, 0);
    EXPECT_EQ(program.replay.ooms, ooms);
    unseen += without_alloc;
  });
  EXPECT_GT(unseen, 500);  // cut logs are among the runs
}

TEST_F(AllocatorModelTest, HolesAreTheModelsFreeBlocks) {
  std::int64_t compared = 0, with_holes = 0, exact = 0;
  for_all([&](const Program& program) {
    for (const AllocatorModel::Books& books : program.model.noted()) {
      if (books.entries < program.cut) continue;
      for (const auto& [key, pieces] : books.pieces) {
        SCOPED_TRACE(testing::Message() << "entry " << books.entries << " stream " << key.first << " large "
                                        << key.second);
        const auto holes =
            holes_after(program.device, program.replay, books.entries - program.cut, key.first, key.second);
        ASSERT_TRUE(holes.has_value());
        ASSERT_EQ(holes->count, pieces.count);
        ASSERT_EQ(holes->whole_segment_bytes, pieces.whole_segments);
        // The rest that the large pool does not split off cannot be told from a hole that follows it.
        const std::int64_t unsure = key.second && !program.is_expandable ? 1 << 20 : 0;
        ASSERT_GE(holes->free_bytes, pieces.bytes);
        ASSERT_LE(holes->free_bytes, pieces.bytes + unsure * pieces.count);
        ASSERT_GE(holes->largest_bytes, pieces.largest);
        ASSERT_LE(holes->largest_bytes, pieces.largest + unsure);
        if (holes->free_bytes == pieces.bytes) ++exact;
        ++compared;
        if (pieces.count > 1) ++with_holes;
      }
    }
  });
  EXPECT_GT(compared, 2'000);
  EXPECT_GT(with_holes, 500);
  EXPECT_GT(exact, compared * 9 / 10);
}

TEST_F(AllocatorModelTest, FailedRequestsHaveTheModelsFigures) {
  std::int64_t compared = 0;
  for_all([&](const Program& program) {
    const MemoryState state;
    const std::int64_t unsure = program.is_expandable ? 0 : 1 << 20;
    const std::vector<OutOfMemory> events = oom_events(program.device, program.replay, state, std::nullopt);
    std::size_t event = 0;
    std::optional<std::size_t> last;
    for (const AllocatorModel::Books& books : program.model.noted()) {
      if (books.entries < program.cut || books.entries >= program.model.entries().size()) continue;
      const AllocatorModel::Entry& entry = program.model.entries()[books.entries];
      // The model notes its books before each failure; a note for another reason may have come right before.
      if (entry.action != AllocatorAction::oom || last == books.entries) continue;
      last = books.entries;
      ASSERT_LT(event, events.size());
      EXPECT_EQ(events[event].asked_bytes, entry.bytes);
      // The log tells requests: what a block is larger than its request rounded is known of the blocks at the end
      // alone.
      EXPECT_LE(events[event].allocated_bytes, books.allocated_bytes);
      EXPECT_GE(events[event].allocated_bytes, books.allocated_bytes - unsure * books.allocations);
      EXPECT_EQ(events[event].reserved_bytes, entry.reserved_after);
      const auto pieces = books.pieces.find({entry.stream, entry.bytes > (1 << 20)});
      const std::int64_t largest = pieces == books.pieces.end() ? 0 : pieces->second.largest;
      EXPECT_GE(events[event].largest_hole_bytes, largest);
      EXPECT_LE(events[event].largest_hole_bytes, largest + unsure);
      ++event;
      ++compared;
    }
    EXPECT_EQ(event, events.size());
  });
  EXPECT_GT(compared, 200);
}

TEST_F(AllocatorModelTest, LiveSetIsTheModelsByStack) {
  Source source;
  source.trace.stacks.nodes.resize(8);
  std::int64_t compared = 0;
  for_all([&](const Program& program) {
    for (const AllocatorModel::Books& books : program.model.noted()) {
      if (books.entries < program.cut) continue;
      const auto live = live_allocations(program.replay, books.entries - program.cut);
      std::map<StackId, std::pair<std::int64_t, std::int64_t>> by_stack;
      for (const HeldGroup& group : group_allocations(source, program.device, program.replay, live, HeldBy::stack)) {
        by_stack[group.stack] = {group.bytes, group.count};
      }
      if (program.cut == 0) {
        ASSERT_EQ(by_stack, books.by_stack) << "entry " << books.entries;
      } else {
        // What the log frees without having allocated has no stack.
        std::int64_t told = 0, held = 0;
        for (const auto& [stack, sums] : by_stack) told += sums.first;
        for (const auto& [stack, sums] : books.by_stack) held += sums.first;
        ASSERT_EQ(told, held) << "entry " << books.entries;
      }
      ++compared;
    }
  });
  EXPECT_GT(compared, 1'000);
}

TEST_F(AllocatorModelTest, BlocksAreJoinedToTheAllocationsOfTheLog) {
  for_all([](const Program& program) {
    std::set<std::uint32_t> joined;
    for (const Allocation& allocation : program.replay.allocations) {
      ASSERT_EQ(allocation.block == kNone, allocation.end != kNone);
      if (allocation.block == kNone) continue;
      ASSERT_TRUE(joined.insert(allocation.block).second);
      const Block& block = program.device.blocks[allocation.block];
      EXPECT_EQ(block.address, allocation.address);
      EXPECT_EQ(block.requested_bytes, allocation.bytes);
      EXPECT_EQ(block.stack, allocation.stack);
      EXPECT_EQ(rounded_bytes(program.device, allocation), block.bytes);
    }
  });
}

void expect_pool(const SegmentUse& use, std::int64_t ByPool::*pool, const AllocatorModel::Sums& sums) {
  EXPECT_EQ(use.allocated_bytes.*pool, sums.allocated);
  EXPECT_EQ(use.active_bytes.*pool, sums.active);
  EXPECT_EQ(use.requested_bytes.*pool, sums.requested);
  EXPECT_EQ(use.reserved_bytes.*pool, sums.reserved);
  EXPECT_EQ(use.inactive_split_bytes.*pool, sums.split);
  EXPECT_EQ(use.allocations.*pool, sums.allocations);
  EXPECT_EQ(use.active_blocks.*pool, sums.active_blocks);
  EXPECT_EQ(use.segments.*pool, sums.segments);
  EXPECT_EQ(use.inactive_splits.*pool, sums.splits);
}

TEST_F(AllocatorModelTest, SumsAreThoseOfMemoryStats) {
  for_all([](const Program& program) {
    const SegmentUse use = measure_segments(program.device);
    expect_pool(use, &ByPool::all, program.model.sums(std::nullopt));
    expect_pool(use, &ByPool::large, program.model.sums(true));
    expect_pool(use, &ByPool::small, program.model.sums(false));
    EXPECT_EQ(inconsistent_segments(program.device), 0);
  });
}

TEST_F(AllocatorModelTest, FreeMemoryIsTheModels) {
  for_all([](const Program& program) {
    const SegmentUse use = measure_segments(program.device);
    const AllocatorModel::Books books = program.model.books();
    std::int64_t free = 0, largest = 0, whole = 0, request = 0;
    for (const auto& [key, pieces] : books.pieces) {
      free += pieces.bytes;
      whole += pieces.whole_segments;
      largest = std::max(largest, pieces.largest);
      if (key.first != main_stream(program.device)) continue;
      request = std::max(request, key.second ? pieces.largest : std::min<std::int64_t>(pieces.largest, 1 << 20));
    }
    EXPECT_EQ(use.free_bytes, free);
    EXPECT_EQ(use.free_segments_bytes, whole);
    EXPECT_EQ(use.free_in_used_segments_bytes, free - whole);
    EXPECT_EQ(use.largest_free_block_bytes, largest);
    EXPECT_EQ(use.largest_request_bytes, request);
  });
}

TEST_F(AllocatorModelTest, SizeClassesTellHowManyRequestsFit) {
  for_all([](const Program& program) {
    const SegmentUse use = measure_segments(program.device);
    std::int64_t free = 0, active = 0;
    for (const SizeClass& each : use.size_classes) {
      free += each.free_bytes;
      active += each.active_bytes;
      // One request after the other, until no free block is large enough.
      std::vector<std::int64_t> left;
      const bool is_large = each.request_bytes > (1 << 20);
      for (const Segment& segment : program.device.segments) {
        if (segment.stream != main_stream(program.device) || (segment.type == SegmentPool::large) != is_large) continue;
        for (std::uint32_t i = segment.first_block; i < segment.last_block; ++i) {
          if (program.device.blocks[i].state == BlockState::free) left.push_back(program.device.blocks[i].bytes);
        }
      }
      std::int64_t met = 0;
      for (std::int64_t& block : left) {
        for (; block >= each.request_bytes; block -= each.request_bytes) ++met;
      }
      EXPECT_EQ(each.could_be_met, met) << each.request_bytes;
    }
    EXPECT_EQ(free, use.free_bytes);
    EXPECT_EQ(active, use.active_bytes.all);
  });
}

}  // namespace
}  // namespace vramscope
