#include "analysis/memory_pairs.h"

#include <gtest/gtest.h>

#include <limits>

#include "analysis/memory_sums.h"
#include "model/trace_builder.h"

namespace vramscope {
namespace {

constexpr MemoryDevice kGpu{1, 0};
constexpr MemoryDevice kCpu{0, -1};

class MemoryPairsTest : public ::testing::Test {
 protected:
  void event(std::int64_t time_ns, std::int64_t bytes, std::uint64_t address, MemoryDevice device = kGpu,
             std::string_view pid = "1") {
    MemoryRow row;
    row.time_ns = time_ns;
    row.bytes = bytes;
    row.address = address;
    row.device = device;
    row.track = builder_.track(builder_.strings().intern(pid), builder_.strings().intern("1"));
    builder_.add(row);
  }
  MemoryPairs pairs() {
    builder_.finish(source_);
    return pair_memory(source_.trace);
  }

  TraceBuilder builder_;
  Source source_;
};

TEST_F(MemoryPairsTest, JoinsAnAllocationAndItsFree) {
  event(10, 100, 0xa);
  event(20, 50, 0xb);
  event(30, -100, 0xa);
  const MemoryPairs found = pairs();
  EXPECT_EQ(found.partner[0], 2u);
  EXPECT_EQ(found.partner[1], kNone);
  EXPECT_EQ(found.partner[2], 0u);
  EXPECT_FALSE(found.is_live_at_end(source_.trace, 0));
  EXPECT_TRUE(found.is_live_at_end(source_.trace, 1));
  EXPECT_FALSE(found.is_live_at_end(source_.trace, 2));
  EXPECT_EQ(found.by_device[0].with_address, 3);
}

TEST_F(MemoryPairsTest, CountsFreesOfWhatWasNeverSeenApartFromRepeatedOnes) {
  event(10, -8, 0xa);
  event(20, 16, 0xb);
  event(30, -16, 0xb);
  event(40, -16, 0xb);
  const MemoryPairs found = pairs();
  EXPECT_EQ(found.by_device[0].frees_without_alloc, 1);
  EXPECT_EQ(found.by_device[0].repeated_frees, 1);
  EXPECT_EQ(found.partner[0], kNone);
  EXPECT_EQ(found.partner[3], kNone);
}

TEST_F(MemoryPairsTest, AnAddressAllocatedAgainEndsTheOldAllocation) {
  event(10, 100, 0xa);
  event(20, 200, 0xa);
  event(30, -200, 0xa);
  const MemoryPairs found = pairs();
  EXPECT_EQ(found.partner[0], 1u);
  EXPECT_EQ(found.partner[1], 2u);
  EXPECT_EQ(found.partner[2], 1u);
  EXPECT_EQ(found.by_device[0].allocs_over_live, 1);
  EXPECT_EQ(found.by_device[0].size_mismatches, 0);
}

TEST_F(MemoryPairsTest, AnAddressIsReusedAfterItsFree) {
  event(10, 100, 0xa);
  event(20, -100, 0xa);
  event(30, 70, 0xa);
  event(40, -60, 0xa);
  const MemoryPairs found = pairs();
  EXPECT_EQ(found.partner[0], 1u);
  EXPECT_EQ(found.partner[2], 3u);
  EXPECT_EQ(found.by_device[0].allocs_over_live, 0);
  EXPECT_EQ(found.by_device[0].size_mismatches, 1);
}

TEST_F(MemoryPairsTest, KeepsDevicesAndProcessesApart) {
  event(10, 100, 0xa, kGpu, "1");
  event(20, -100, 0xa, kCpu, "1");
  event(30, -100, 0xa, kGpu, "2");
  const MemoryPairs found = pairs();
  EXPECT_EQ(found.partner[0], kNone);
  ASSERT_EQ(found.by_device.size(), 3u) << "the GPU of each process, and the CPU";
  EXPECT_EQ(found.by_device[0].frees_without_alloc, 0);
  EXPECT_EQ(found.by_device[1].frees_without_alloc, 1);
  EXPECT_EQ(found.by_device[2].frees_without_alloc, 1);
  EXPECT_EQ(source_.trace.process_sharing(0), "1");
  EXPECT_EQ(source_.trace.process_sharing(1), "") << "one process alone uses the CPU's memory";
  EXPECT_EQ(source_.trace.process_sharing(2), "2");
}

TEST_F(MemoryPairsTest, BoundsTheDevices) {
  const auto most = static_cast<std::int32_t>(TraceBuilder::kMostMemoryDevices);
  for (std::int32_t i = 0; i < most + 5; ++i) event(i, 8, 0xa, {1, i});
  event(most + 5, 8, 0xb, {1, most - 1});
  pairs();
  EXPECT_EQ(source_.trace.memory_devices.size(), TraceBuilder::kMostMemoryDevices);
  EXPECT_EQ(source_.trace.memory.size(), TraceBuilder::kMostMemoryDevices + 1);
  ASSERT_EQ(source_.trouble.size(), 1u);
  EXPECT_EQ(source_.trouble[0].name, "too_many_memory_devices");
  EXPECT_EQ(source_.trouble[0].count, 5);
}

TEST_F(MemoryPairsTest, LeavesOutEventsWithoutAddressOrBytes) {
  event(10, 100, kUnknownAddress);
  event(20, -100, kUnknownAddress);
  event(30, 0, 0);
  event(40, 0, 0);
  const MemoryPairs found = pairs();
  EXPECT_EQ(found.by_device[0].without_address, 2);
  EXPECT_EQ(found.by_device[0].with_address, 0);
  EXPECT_EQ(found.by_device[0].frees_without_alloc, 0);
  EXPECT_EQ(found.by_device[0].allocs_over_live, 0);
}

TEST_F(MemoryPairsTest, TakesTheSmallestNumberAsASize) {
  constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();
  event(10, std::numeric_limits<std::int64_t>::max(), 0xa);
  event(20, kSmallest, 0xa);
  const MemoryPairs found = pairs();
  EXPECT_EQ(found.partner[0], 1u);
  EXPECT_EQ(found.by_device[0].size_mismatches, 0) << "both stop at the end of the range";
}

TEST(MemorySumsTest, StopAtTheEndsAndNeverReachUnknown) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(add_bytes(kMax, 1), kMax);
  EXPECT_EQ(add_bytes(-kMax, -1), -kMax);
  EXPECT_EQ(add_bytes(-kMax, -kMax), -kMax);
  EXPECT_EQ(subtract_bytes(-kMax, 1), -kMax);
  EXPECT_EQ(subtract_bytes(kMax, -1), kMax);
  EXPECT_EQ(subtract_bytes(0, kUnknown), kMax);
  EXPECT_EQ(size_of_bytes(-5), 5);
  EXPECT_EQ(size_of_bytes(kUnknown), kMax);
}

}  // namespace
}  // namespace vramscope
