#pragma once
// What is live at a moment: allocations made in the recording and not freed yet, one by one or in groups.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/memory_curve.h"
#include "analysis/memory_pairs.h"
#include "model/trace.h"

namespace vramscope {

struct LiveBlock {
  std::uint32_t event = 0;   // its allocation, an index into Trace::memory
  std::uint32_t device = 0;  // index into Trace::memory_devices
  std::int64_t bytes = 0;
  std::int64_t time_ns = 0;  // of the allocation
  SpanIndex span = kNone;    // innermost range that made it, or kNone
  std::uint64_t address = 0;
};

// The blocks of a device that are live when the first `count` of its events have happened, in order of allocation.
// Empty for a trace without addresses.
std::vector<LiveBlock> live_after(const Trace& trace, const MemoryPairs& pairs, const DeviceMemory& memory,
                                  std::size_t count);
// The same at a time: what happened until then and at that very time counts.
std::vector<LiveBlock> live_at(const Trace& trace, const MemoryPairs& pairs, const DeviceMemory& memory,
                               std::int64_t time_ns);

std::int64_t sum_of(const std::vector<LiveBlock>& blocks);

enum class LiveBy : std::uint8_t { op_and_stack, outer_op_and_stack, stack, op, step };

// The name of what is allocated outside every operator and annotation. Never translated in JSON.
inline constexpr const char* kOutsideAnyOp = "[outside any op]";

struct LiveGroup {
  std::string op;                 // the nearest operator or annotation around; empty when grouped by stack or step
  std::string outer_op;           // the outermost operator around that one, for outer_op_and_stack; may be empty
  std::uint32_t step = kNone;     // index into Trace::steps when grouped by step, kNone = outside any step
  std::uint32_t first_event = 0;  // an allocation of the group: its stack is Trace::stack_of_memory(first_event)
  std::int64_t bytes = 0;
  std::int64_t count = 0;  // blocks
};

// Groups with most bytes first; of equals the one that was allocated from first.
std::vector<LiveGroup> group_live(const Trace& trace, const std::vector<LiveBlock>& blocks, LiveBy by);

// Bytes at that moment that were alive before the recording began: the level less the bytes known to be live.
// None where the curve is relative, an event has no address, or the totals do not cover what is live.
std::optional<std::int64_t> before_recording_bytes(const DeviceMemory& memory, std::size_t count,
                                                   std::int64_t live_bytes);

}  // namespace vramscope
