#include "analysis/size_class_growth.h"

#include <algorithm>
#include <bit>

#include "absl/container/flat_hash_map.h"
#include "analysis/memory_sums.h"

namespace vramscope {

namespace {

constexpr std::size_t kFewestEntries = 64;
constexpr std::size_t kClasses = 63;

// Index of the smallest power of two that holds the request.
std::size_t class_of(std::int64_t bytes) {
  if (bytes <= 1) return 0;
  return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes) - 1)),
                               kClasses - 1);
}

bool rises(const std::array<std::int64_t, kGrowthPoints>& values) {
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] <= values[i - 1]) return false;
  }
  return true;
}

StackId heaviest_stack(const Replay& replay, std::size_t size_class) {
  absl::flat_hash_map<StackId, std::int64_t> bytes;
  StackId best = 0;
  for (const Allocation& allocation : replay.allocations) {
    if (allocation.end != kNone || class_of(allocation.bytes) != size_class) continue;
    std::int64_t& sum = bytes[allocation.stack];
    sum = add_bytes(sum, allocation.bytes);
    if (sum > bytes[best]) best = allocation.stack;
  }
  return best;
}

}  // namespace

std::int64_t SizeClassGrowth::growth_bytes() const {
  return subtract_bytes(bytes.back(), bytes.front());
}

std::vector<SizeClassGrowth> growing_size_classes(const AllocatorDevice& device, const Replay& replay) {
  std::vector<SizeClassGrowth> found;
  const std::size_t entries = device.log.size();
  if (entries < kFewestEntries) return found;
  std::vector<SizeClassGrowth> classes(kClasses);
  for (const Allocation& allocation : replay.allocations) {
    SizeClassGrowth& own = classes[class_of(allocation.bytes)];
    for (std::size_t i = 0; i < kGrowthPoints; ++i) {
      const std::size_t count = i + 1 == kGrowthPoints ? entries : entries / (kGrowthPoints - 1) * i;
      if (!allocation.is_live_after(count)) continue;
      own.bytes[i] = add_bytes(own.bytes[i], allocation.bytes);
      ++own.counts[i];
    }
  }
  for (std::size_t i = 0; i < kClasses; ++i) {
    if (!rises(classes[i].bytes) || !rises(classes[i].counts)) continue;
    classes[i].request_bytes = std::int64_t{1} << i;
    classes[i].stack = heaviest_stack(replay, i);
    found.push_back(classes[i]);
  }
  std::stable_sort(found.begin(), found.end(), [](const SizeClassGrowth& a, const SizeClassGrowth& b) {
    return a.growth_bytes() > b.growth_bytes();
  });
  return found;
}

}  // namespace vramscope
