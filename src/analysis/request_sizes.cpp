#include "analysis/request_sizes.h"

#include "absl/container/flat_hash_map.h"

namespace vramscope {

std::optional<LargeRequest> largest_passing_request(const Replay& replay, std::size_t first) {
  std::optional<LargeRequest> largest;
  for (const Allocation& allocation : replay.allocations) {
    if (allocation.begin == kNone || allocation.begin < first || allocation.end == kNone) continue;
    if (largest && allocation.bytes <= largest->bytes) continue;
    largest = LargeRequest{allocation.bytes, allocation.stack, allocation.begin};
  }
  return largest;
}

bool has_varied_sizes(const Replay& replay) {
  constexpr std::int64_t kLargeBytes = 1 << 20;
  constexpr std::size_t kFewest = 16;
  absl::flat_hash_map<std::int64_t, std::size_t> times;
  std::size_t requests = 0;
  for (const Allocation& allocation : replay.allocations) {
    if (allocation.begin == kNone || allocation.bytes <= kLargeBytes) continue;
    ++times[allocation.bytes];
    ++requests;
  }
  std::size_t single = 0;
  for (const auto& [bytes, count] : times) single += count == 1 ? 1 : 0;
  return requests >= kFewest && single * 2 >= requests;
}

}  // namespace vramscope
