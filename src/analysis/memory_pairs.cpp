#include "analysis/memory_pairs.h"

#include "absl/container/flat_hash_map.h"
#include "analysis/memory_sums.h"

namespace vramscope {

namespace {

// The latest allocation of each address seen so far, or kNone once it is freed: a map for each device of each process.
class LatestByAddress {
 public:
  using Addresses = absl::flat_hash_map<std::uint64_t, std::uint32_t>;

  Addresses& of(std::uint32_t device, StringId process) {
    const std::uint64_t key = (std::uint64_t{device} << 32) | process;
    if (maps_.empty() || key != last_key_) {
      last_ = places_.try_emplace(key, maps_.size()).first->second;
      last_key_ = key;
      if (last_ == maps_.size()) maps_.emplace_back();
    }
    return maps_[last_];
  }

 private:
  absl::flat_hash_map<std::uint64_t, std::size_t> places_;
  std::vector<Addresses> maps_;
  std::uint64_t last_key_ = 0;
  std::size_t last_ = 0;
};

}  // namespace

MemoryPairs pair_memory(const Trace& trace) {
  const MemoryEvents& memory = trace.memory;
  MemoryPairs pairs;
  pairs.partner.resize(memory.size(), kNone);
  pairs.by_device.resize(trace.memory_devices.size());
  LatestByAddress latest;
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
    LatestByAddress::Addresses& live = latest.of(memory.device[i], trace.tracks[memory.track[i]].pid);
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
