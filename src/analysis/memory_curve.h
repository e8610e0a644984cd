#pragma once
// Memory of each device over time, from the allocations and frees of a trace.
//
// Two notions, never mixed unsaid: the totals that the profiler wrote with the events, and the running sum of the
// events' own bytes, which starts at 0 because what was alive before the recording is not in it.
// Everything here is linear in the number of events, and sums stop at the ends of int64 instead of overflowing.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/memory_pairs.h"
#include "base/column.h"
#include "model/trace.h"

namespace vramscope {

enum class CurveKind : std::uint8_t {
  written,         // every point is a total that the profiler wrote
  partly_written,  // some events lack a total: theirs is the nearest written one plus the bytes between
  relative,        // no totals at all: bytes relative to the start of the recording, may be negative
};

// The memory of one device in one profiler step. Levels are those of the device's curve.
struct StepMemory {
  std::int64_t number = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;       // events at this very time belong to what follows
  std::int64_t begin_bytes = 0;  // level before the step's first event
  std::int64_t end_bytes = 0;    // level after its last event
  std::int64_t peak_bytes = 0;   // highest level in the step, the beginning included
  std::int64_t alloc_bytes = 0;
  std::int64_t free_bytes = 0;
  std::int64_t allocs = 0;
  std::int64_t frees = 0;
  std::int64_t kept_bytes = 0;  // end_bytes - begin_bytes
};

struct DeviceMemory {
  std::uint32_t device = 0;  // index into Trace::memory_devices
  CurveKind kind = CurveKind::relative;
  Column<std::uint32_t> events;                     // indices into Trace::memory, in time order; never empty
  Column<std::int64_t> allocated;                   // the curve: level after each of `events`
  std::int64_t begin_bytes = 0;                     // level before the first event; 0 for a relative curve
  std::int64_t end_bytes = 0;                       // level after the last event
  std::size_t peak = 0;                             // index into `events`: the first point of the highest level
  std::size_t lowest = 0;                           // the same for the lowest level
  std::optional<std::int64_t> max_allocated_bytes;  // largest totals written; none where none was written
  std::optional<std::int64_t> max_reserved_bytes;
  std::int64_t alloc_bytes = 0;  // sum of the allocations' bytes
  std::int64_t free_bytes = 0;   // sum of the frees' bytes, positive
  std::int64_t allocs = 0;
  std::int64_t frees = 0;
  std::int64_t zero_byte_events = 0;  // neither an allocation nor a free
  std::int64_t events_without_total = 0;
  PairCounts pairs;
  std::vector<StepMemory> steps;  // parallel to Trace::steps

  std::int64_t peak_bytes() const { return allocated[peak]; }
  // The level when the first `count` events have happened.
  std::int64_t level_after(std::size_t count) const { return count == 0 ? begin_bytes : allocated[count - 1]; }
  // Whether every event has an address, so that what is live can be told.
  bool has_addresses() const { return pairs.with_address > 0 && pairs.without_address == 0; }
};

// Every device that has events: accelerators by type and index, then the CPU.
std::vector<DeviceMemory> device_memory(const Trace& trace, const MemoryPairs& pairs);

// How many of the device's events come before `time_ns` (`at` false) or until it and at it (`at` true).
std::size_t events_until(const Trace& trace, const DeviceMemory& memory, std::int64_t time_ns, bool at);

// The step that holds a time, as an index into Trace::steps (of several the one that began last); kNone outside.
std::uint32_t step_at(const Trace& trace, std::int64_t time_ns);

}  // namespace vramscope
