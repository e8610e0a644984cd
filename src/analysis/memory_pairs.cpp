#include "analysis/memory_pairs.h"

#include "absl/container/flat_hash_map.h"
#include "analysis/memory_sums.h"

namespace vramscope {

namespace {

// The latest allocation of each address seen so far, or kNone once it is freed.
using LatestByAddress = absl::flat_hash_map<std::uint64_t, std::uint32_t>;

}  // namespace

MemoryPairs pair_memory(const Trace& trace) {
  const MemoryEvents& memory = trace.memory;
  MemoryPairs pairs;
  pairs.partner.resize(memory.size(), kNone);
  pairs.by_device.resize(trace.memory_devices.size());
  std::vector<LatestByAddress> latest(trace.memory_devices.size());  // each has addresses of its own
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const std::int64_t bytes = memory.bytes[i];
    if (bytes == 0) continue;
    PairCounts& counts = pairs.by_device[memory.device[i]];
    if (memory.address[i] == kUnknownAddress) {
      ++counts.without_address;
      continue;
    }
    ++counts.with_address;
    const auto event = static_cast<std::uint32_t>(i);
    LatestByAddress& live = latest[memory.device[i]];
    const std::uint64_t address = memory.address[i];
    if (bytes > 0) {
      const auto [slot, is_new] = live.try_emplace(address, event);
      if (!is_new && slot->second != kNone) {
        ++counts.allocs_over_live;
        pairs.partner[slot->second] = event;
      }
      slot->second = event;
      continue;
    }
    const auto found = live.find(address);
    if (found == live.end()) {
      ++counts.frees_without_alloc;
    } else if (found->second == kNone) {
      ++counts.repeated_frees;
    } else {
      const std::uint32_t made = found->second;
      if (memory.bytes[made] != size_of_bytes(bytes)) ++counts.size_mismatches;
      pairs.partner[made] = event;
      pairs.partner[event] = made;
      found->second = kNone;
    }
  }
  return pairs;
}

}  // namespace vramscope
