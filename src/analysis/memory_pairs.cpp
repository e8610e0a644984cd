#include "analysis/memory_pairs.h"

#include "absl/container/flat_hash_map.h"
#include "analysis/memory_sums.h"

namespace vramscope {

namespace {

struct Block {
  std::uint32_t device;
  StringId process;
  std::uint64_t address;

  bool operator==(const Block&) const = default;
  template <typename H>
  friend H AbslHashValue(H state, const Block& block) {
    return H::combine(std::move(state), block.device, block.process, block.address);
  }
};

}  // namespace

MemoryPairs pair_memory(const Trace& trace) {
  const MemoryEvents& memory = trace.memory;
  MemoryPairs pairs;
  pairs.partner.resize(memory.size(), kNone);
  pairs.by_device.resize(trace.memory_devices.size());
  // The live allocation of each address seen so far, or kNone.
  absl::flat_hash_map<Block, std::uint32_t> live;
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
    const Block block{memory.device[i], trace.tracks[memory.track[i]].pid, memory.address[i]};
    if (bytes > 0) {
      const auto [slot, is_new] = live.try_emplace(block, event);
      if (!is_new && slot->second != kNone) {
        ++counts.allocs_over_live;
        pairs.partner[slot->second] = event;
      }
      slot->second = event;
      continue;
    }
    const auto found = live.find(block);
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
