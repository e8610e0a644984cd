#include <algorithm>

#include "analysis/allocator_replay.h"
#include "analysis/allocator_sizes.h"
#include "analysis/memory_sums.h"
#include "analysis/oom_cause.h"
#include "base/column.h"

namespace vramscope {

namespace {

// What is allocated after each number of entries, in rounded bytes.
Column<std::int64_t> allocated_levels(const AllocatorDevice& device, const Replay& replay) {
  Column<std::int64_t> levels;
  levels.resize(device.log.size() + 1, 0);
  for (const Allocation& allocation : replay.allocations) {
    const std::int64_t bytes = rounded_bytes(device, allocation);
    // Alive in (begin, end], see Allocation::is_live_after.
    std::int64_t& born = levels[allocation.begin == kNone ? 0 : std::size_t{allocation.begin} + 1];
    born = add_bytes(born, bytes);
    if (allocation.end == kNone || std::size_t{allocation.end} + 1 >= levels.size()) continue;
    std::int64_t& gone = levels[std::size_t{allocation.end} + 1];
    gone = subtract_bytes(gone, bytes);
  }
  for (std::size_t i = 1; i < levels.size(); ++i) levels[i] = add_bytes(levels[i - 1], levels[i]);
  return levels;
}

}  // namespace

std::vector<OutOfMemory> oom_events(const AllocatorDevice& device, const Replay& replay, const MemoryState& state,
                                    std::optional<std::int64_t> total_bytes) {
  std::vector<OutOfMemory> events;
  if (device.index < 0) return events;  // pinned memory of the host: no part of the card's
  // Finding the holes walks over the whole log: a run that fails thousands of times has them for these alone.
  constexpr std::size_t kHolesOfFirst = 64;
  constexpr std::size_t kHolesOfLast = 64;
  const AllocatorLog& log = device.log;
  const auto failures =
      static_cast<std::size_t>(std::count(log.action.begin(), log.action.end(), AllocatorAction::oom));
  Column<std::int64_t> allocated;
  for (std::size_t i = 0; i < log.size(); ++i) {
    if (log.action[i] != AllocatorAction::oom) continue;
    OutOfMemory event;
    event.framework = "pytorch";
    event.device = device.index;
    event.total_bytes = total_bytes;
    if (log.bytes[i] >= 0) {
      event.asked_bytes = log.bytes[i];
      event.driver_bytes = segment_request(log.bytes[i], has_expandable_segments(state.settings));
    }
    if (log.note[i] < state.notes.size() && state.notes[log.note[i]].device_free_bytes != kUnknown) {
      event.free_bytes = state.notes[log.note[i]].device_free_bytes;
    }
    if (replay.mismatch != EndMismatch::no_log) {
      if (allocated.empty()) allocated = allocated_levels(device, replay);
      event.allocated_bytes = allocated[i];
      event.reserved_bytes = replay.reserved_after(i);
      const bool is_large = log.bytes[i] > kLargestSmallRequest;
      if (events.size() < kHolesOfFirst || events.size() + kHolesOfLast >= failures) {
        const auto holes = holes_after(device, replay, i, log.stream[i], is_large);
        if (holes) event.largest_hole_bytes = holes->largest_bytes;
      }
    }
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace vramscope
