#pragma once
// Why an allocation failed, and what would have helped: by arithmetic on what the message or the log tells.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/memory_state.h"
#include "model/out_of_memory.h"
#include "model/source.h"

namespace vramscope {

enum class OomCause : std::uint8_t {
  exhausted,       // this process needs more than there is
  fragmented,      // enough is free in sum, no piece is large enough
  held_by_others,  // other processes hold what is missing; claimed only where the device's total is known
  capped,          // the device has room: a limit of the allocator or the framework stopped it
  unknown,         // the numbers do not tell, or contradict each other
};
const char* cause_name(OomCause cause);  // "exhausted", …: for JSON

// Advice is an id that reports turn into a sentence; in the order in which to try it.
enum class OomAdvice : std::uint8_t {
  smaller_batch,        // with the factor, where it can be computed
  expandable_segments,  // not when already on
  max_split_size,  // where expandable segments are not to be had; not when set, nor for a request it spares nothing
  stop_other_processes,
  raise_cap,
  lower_framework_share,  // vLLM's gpu_memory_utilization, XLA's preallocation
  checkpoint_activations,
  shorter_sequences,      // the request alone is larger than the device
  another_device,         // the other devices of the case are nearly empty
  free_cache,             // reserved but unallocated would be enough if given back
  windows_shared_memory,  // more allocated than the card has: system memory is in use already
  fewer_graphs,           // what private pools hold would be enough
};

struct OomVerdict {
  OomCause cause = OomCause::unknown;
  double confidence = 0;  // 0 for unknown; at most 0.5 where figures contradict each other
  std::vector<OomAdvice> advice;
  std::optional<std::int64_t> missing_bytes;  // asked, less what was free on the device (capped: below the cap)
  // Asked, less what was free and what was reserved and not allocated: what of allocated_bytes would have to go if all
  // free memory were one piece. 0 when that alone would have been enough.
  std::optional<std::int64_t> must_go_bytes;
  // Below 1: to what part of its size the batch would have to shrink if all that is allocated and the request grew with
  // it. Weights do not, so the true factor is smaller. Empty where it cannot be told or nothing has to shrink.
  std::optional<double> batch_factor;
  std::optional<std::int64_t>
      held_outside_bytes;                         // device memory that is not this allocator's: total - free - reserved
  std::optional<std::int64_t> others_bytes;       // of other processes, where named or computed
  std::vector<ProcessMemory> others;              // named ones: without this process, and without what cannot be
  std::optional<std::int64_t> process_bytes;      // of this one, contexts included: told, or found among the named ones
  std::optional<std::int64_t> unallocated_bytes;  // reserved and not allocated
  std::vector<const char*> contradictions;  // msgids: numbers that cannot be ("allocated more than the device has")
};

OomVerdict explain_oom(const OutOfMemory& event, const std::map<std::string, std::string>& settings);

// The variable that sets the allocator up on the message's platform: "PYTORCH_CUDA_ALLOC_CONF" where it names none.
std::string settings_variable(const OutOfMemory& event);

// In MiB for max_split_size_mb: below what was asked for, above the 20 MiB that the allocator wants at least. 0 where
// no limit keeps blocks whole for such a request.
std::int64_t split_limit_mib(std::int64_t asked_bytes);

// Whether a setting is in force by allocator_settings ("expandable_segments" True, max_split_size > 0, …).
bool has_expandable_segments(const std::map<std::string, std::string>& settings);
bool has_split_limit(const std::map<std::string, std::string>& settings);

// The oom entries of a snapshot's log as events, in order: asked, free on the device, allocated and reserved by the
// replay at that entry, largest hole. Allocated bytes are rounded ones, as messages and reserved_bytes have them. The
// device's total where `total_bytes` gives it. None for pinned host memory, which is no part of the card's.
struct Replay;
std::vector<OutOfMemory> oom_events(const AllocatorDevice& device, const Replay& replay, const MemoryState& state,
                                    std::optional<std::int64_t> total_bytes);

}  // namespace vramscope
