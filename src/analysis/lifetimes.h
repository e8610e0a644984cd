#pragma once
// How long allocations live: in which step, and by which operator, what an operator allocated is freed.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/device_filter.h"
#include "model/trace.h"

namespace vramscope {

// What one operator allocated on one device. The parts below `allocs` add up to alloc_bytes.
struct OpLifetime {
  std::string op;            // "[memory]": outside any operator
  std::uint32_t device = 0;  // index into Trace::memory_devices
  std::int64_t allocs = 0;
  std::int64_t alloc_bytes = 0;
  std::int64_t freed_same_op_bytes = 0;        // within the same call, what it calls included
  std::int64_t freed_same_step_bytes = 0;      // after the call, in the step that allocated
  std::int64_t freed_later_step_bytes = 0;     // in a step that is not the one that allocated
  std::int64_t freed_outside_steps_bytes = 0;  // between, before or after the steps, or the trace has none
  std::int64_t never_freed_bytes = 0;          // alive when the recording ends
  std::int64_t free_not_seen_bytes = 0;        // the address was allocated again with no free in between
  std::vector<std::pair<std::string, std::int64_t>> freed_by;  // operator and bytes, most bytes first
};

struct Lifetimes {
  std::vector<OpLifetime> ops;           // most bytes first
  bool has_memory = false;               // memory events of the wanted devices
  bool has_addresses = false;            // without them (torch before 1.11) nothing can be paired
  std::int64_t frees_without_alloc = 0;  // allocated before the recording began: counted, not guessed
  std::int64_t frees_without_alloc_bytes = 0;
  std::int64_t events_without_address = 0;
};

// With a device chosen, the lifetimes on that one alone.
Lifetimes find_lifetimes(const Trace& trace, const DeviceFilter& filter);

}  // namespace vramscope
