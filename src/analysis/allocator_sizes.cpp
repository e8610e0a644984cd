#include "analysis/allocator_sizes.h"

#include <algorithm>
#include <map>

#include "analysis/memory_sums.h"

namespace vramscope {

namespace {

template <typename Key>
Key largest(const std::map<Key, std::int64_t>& sums) {
  const auto found =
      std::max_element(sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return found == sums.end() ? Key{} : found->first;
}

}  // namespace

std::int64_t rounded_bytes(const AllocatorDevice& device, const Allocation& allocation) {
  if (allocation.block < device.blocks.size()) return std::max<std::int64_t>(device.blocks[allocation.block].bytes, 0);
  return rounded_request(allocation.bytes);
}

StringId main_pool(const AllocatorDevice& device) {
  std::map<StringId, std::int64_t> sums;
  for (const Segment& segment : device.segments) {
    sums[segment.pool] = add_bytes(sums[segment.pool], std::max<std::int64_t>(segment.total_bytes, 0));
  }
  return largest(sums);
}

std::int64_t main_stream(const AllocatorDevice& device) {
  std::map<std::int64_t, std::int64_t> sums;
  for (const Segment& segment : device.segments) {
    sums[segment.stream] = add_bytes(sums[segment.stream], std::max<std::int64_t>(segment.total_bytes, 0));
  }
  return sums.contains(0) ? 0 : largest(sums);
}

}  // namespace vramscope
