#include "analysis/allocator_replay.h"
#include "analysis/allocator_sizes.h"
#include "analysis/memory_sums.h"
#include "analysis/oom_cause.h"

namespace vramscope {

namespace {

std::int64_t allocated_after(const AllocatorDevice& device, const Replay& replay, std::size_t count) {
  std::int64_t bytes = 0;
  for (const Allocation& allocation : replay.allocations) {
    if (allocation.is_live_after(count)) bytes = add_bytes(bytes, rounded_bytes(device, allocation));
  }
  return bytes;
}

}  // namespace

std::vector<OutOfMemory> oom_events(const AllocatorDevice& device, const Replay& replay, const MemoryState& state,
                                    std::optional<std::int64_t> total_bytes) {
  std::vector<OutOfMemory> events;
  if (device.index < 0) return events;  // pinned memory of the host: no part of the card's
  const AllocatorLog& log = device.log;
  for (std::size_t i = 0; i < log.size(); ++i) {
    if (log.action[i] != AllocatorAction::oom) continue;
    OutOfMemory event;
    event.framework = "pytorch";
    event.device = device.index;
    event.total_bytes = total_bytes;
    if (log.bytes[i] >= 0) event.asked_bytes = log.bytes[i];
    if (log.note[i] < state.notes.size() && state.notes[log.note[i]].device_free_bytes != kUnknown) {
      event.free_bytes = state.notes[log.note[i]].device_free_bytes;
    }
    if (replay.mismatch != EndMismatch::no_log) {
      event.allocated_bytes = allocated_after(device, replay, i);
      event.reserved_bytes = replay.reserved_after(i);
      const bool is_large = log.bytes[i] > kLargestSmallRequest;
      if (const auto holes = holes_after(device, replay, i, log.stream[i], is_large)) {
        event.largest_hole_bytes = holes->largest_bytes;
      }
    }
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace vramscope
