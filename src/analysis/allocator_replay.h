#pragma once
// The log of a caching allocator replayed: what lived when, from before the log began to its end.
//
// The log covers the end of a run only. What lived before it is found by rewinding: the blocks at the end, less those
// that the log allocates, plus those that the log frees without having allocated them. All sizes here are bytes as the
// program asked for them (a baseline block without requested_bytes counts with its rounded size, see
// baseline_rounded_bytes). An allocation lives until "free_completed"; where a log has none of these, until
// "free_requested". Linear in the size of the log.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/column.h"
#include "model/memory_state.h"

namespace vramscope {

struct Allocation {
  std::uint64_t address = kUnknownAddress;
  std::int64_t bytes = 0;  // as asked for
  std::int64_t stream = 0;
  std::uint32_t begin = kNone;  // log entry that made it; kNone = before the log
  std::uint32_t end = kNone;    // log entry that ended it; kNone = lives at the end of the log
  StackId stack = 0;            // where it was allocated; of a baseline allocation the block's, 0 when freed in the log
  std::uint32_t block = kNone;  // AllocatorDevice::blocks that it is at the end, or kNone
  // Alive when the first `count` entries of the log have happened.
  bool is_live_after(std::size_t count) const {
    return (begin == kNone || begin < count) && (end == kNone || end >= count);
  }
};

// Why the segments and the log can disagree about what lives at the end.
enum class EndMismatch : std::uint8_t {
  none,
  no_log,           // nothing was recorded: the segments are all there is
  freed_after_log,  // the log ends with more alive than the segments hold: dumped after frees that it does not show
  log_incomplete,   // the segments hold blocks at addresses that the log frees last
};

struct Replay {
  std::vector<Allocation> allocations;  // baseline first (by address), then in log order
  // After each log entry, the baseline included:
  Column<std::int64_t> live_bytes;
  Column<std::int64_t> reserved_bytes;  // rewound from the segments at the end
  std::int64_t baseline_bytes = 0;      // live before the first entry
  std::int64_t baseline_count = 0;
  std::int64_t baseline_rounded_bytes = 0;  // part of baseline_bytes that is known as a rounded size alone
  std::int64_t baseline_reserved_bytes = 0;
  std::int64_t peak_bytes = 0;        // highest live_bytes, the baseline included
  std::size_t peak_count = 0;         // entries that have happened at the first peak; 0 = before the first entry
  std::int64_t end_bytes = 0;         // after the last entry; without a log the requested bytes of the active blocks
  std::int64_t end_blocks_bytes = 0;  // what the segments hold at the end: requested bytes of the active blocks
  EndMismatch mismatch = EndMismatch::none;
  std::int64_t allocs = 0;
  std::int64_t frees = 0;  // that ended an allocation, in the log or of the baseline
  // Of addresses that did not live by the log: of the baseline, or of an allocation that the log lost.
  std::int64_t frees_without_alloc = 0;
  std::int64_t allocs_over_live = 0;  // of an address that still lived: its free was not recorded
  std::int64_t ooms = 0;
  std::int64_t device_allocs = 0;         // segment_alloc and segment_map
  std::int64_t device_frees = 0;          // segment_free and segment_unmap
  std::int64_t first_time_ns = kUnknown;  // of the first and the last entry, where times are known
  std::int64_t last_time_ns = kUnknown;

  std::int64_t live_after(std::size_t count) const { return count == 0 ? baseline_bytes : live_bytes[count - 1]; }
  std::int64_t reserved_after(std::size_t count) const {
    return count == 0 ? baseline_reserved_bytes : reserved_bytes[count - 1];
  }
};

Replay replay_log(const AllocatorDevice& device);

// Indices into Replay::allocations of what lives when the first `count` entries have happened.
std::vector<std::uint32_t> live_allocations(const Replay& replay, std::size_t count);

// How many entries happened until a time and at it. Empty where the log has no times.
std::optional<std::size_t> entries_until(const AllocatorLog& log, std::int64_t time_ns);

// Allocations that were freed again soon: the work of the allocator in steady state.
struct ChurnGroup {
  StackId stack = 0;
  std::int64_t count = 0;  // allocations freed within `window`
  std::int64_t bytes = 0;
};
struct Churn {
  std::int64_t window_entries = 0;  // "soon": as many entries later at most
  std::int64_t short_lived = 0;
  std::int64_t short_lived_bytes = 0;
  // Segments taken from the driver and given back in the log, and how often one of a size came right after one of the
  // same size had been given back (within the log).
  std::int64_t segment_allocs = 0;
  std::int64_t segment_frees = 0;
  std::int64_t segment_alloc_bytes = 0;
  std::int64_t segment_free_bytes = 0;
  std::int64_t segments_taken_again = 0;
  std::int64_t segments_taken_again_bytes = 0;
  std::int64_t first_taken_again = kUnknown;  // log entry
  std::vector<ChurnGroup> groups;             // of short-lived allocations, most bytes first
  std::vector<ChurnGroup> segment_groups;     // stacks that took segments again, most first
};
Churn measure_churn(const AllocatorDevice& device, const Replay& replay);

// Free pieces of one stream and pool inside what is reserved, when the first `count` entries have happened: by the
// segments at the end, rewound through the log's segment entries, less what lives. Live pieces are rounded up to 512
// bytes. In the large pool the allocator splits no rest of up to 1 MiB off (unless segments are expandable): such a
// rest is no hole where a live piece follows, else it makes the hole behind it look larger. Private pools (CUDA graphs)
// are left out as far as their segments live at the end. Empty where a live address lies in no segment: then it cannot
// be told.
struct Holes {
  std::int64_t free_bytes = 0;
  std::int64_t largest_bytes = 0;
  std::int64_t whole_segment_bytes = 0;  // part of it in free segments: the allocator gives them back before it fails
  std::int64_t count = 0;
};
std::optional<Holes> holes_after(const AllocatorDevice& device, const Replay& replay, std::size_t count,
                                 std::int64_t stream, bool large_pool);

}  // namespace vramscope
