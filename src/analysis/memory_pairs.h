#pragma once
// Which free belongs to which allocation: by address, within one device of one process, in time order.
//
// Events without bytes or without an address take no part. Linear in the number of events.
#include <cstdint>
#include <vector>

#include "base/column.h"
#include "model/trace.h"

namespace vramscope {

struct PairCounts {
  std::int64_t frees_without_alloc = 0;  // frees of addresses that were never seen allocated in the recording
  std::int64_t repeated_frees = 0;       // frees of addresses that were seen, but had been freed already
  std::int64_t allocs_over_live = 0;     // allocations of an address that was still live: its free was not recorded
  std::int64_t size_mismatches = 0;      // frees whose size is not that of their allocation
  std::int64_t with_address = 0;         // events with bytes and an address
  std::int64_t without_address = 0;      // events with bytes that could not take part
};

struct MemoryPairs {
  // For each event of Trace::memory. An allocation: the event that ended it, that is its free or, where the
  // free was not recorded, the next allocation of its address; kNone = live to the end of the recording.
  // A free: its allocation; kNone = allocated before the recording, freed twice, or no address.
  Column<std::uint32_t> partner;
  std::vector<PairCounts> by_device;  // parallel to Trace::memory_devices

  bool is_live_at_end(const Trace& trace, std::uint32_t event) const {
    return trace.memory.bytes[event] > 0 && partner[event] == kNone;
  }
};

MemoryPairs pair_memory(const Trace& trace);

}  // namespace vramscope
