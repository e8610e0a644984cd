#pragma once
// Two processes on one card: memory that one keeps reserved and does not use, and the other is missing.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/out_of_memory.h"
#include "model/source.h"

namespace vramscope {

// What the allocator of one process keeps of one card, by a snapshot or by the last sample of a log.
struct ReservedMemory {
  const Source* source = nullptr;
  std::int64_t reserved_bytes = 0;
  std::int64_t used_bytes = 0;                   // allocated, those that another stream still uses included
  std::optional<std::int64_t> returnable_bytes;  // wholly free segments: what empty_cache() gives back
  std::int64_t idle_bytes() const;
};

// Of the sources of the case other than `failed`, those that tell it for the card. `failed` may be nullptr.
std::vector<ReservedMemory> reserved_elsewhere(const Case& input, const Source* failed, std::int32_t card);

// How it is known that the two share the card at the time of the failure.
enum class Sharing {
  named,      // the message names a process with as much in use
  room,       // outside the failed process there is as much in use
  not_known,  // the files do not tell
  no,         // it is the same process, or there was no such process then
};

struct IdleCache {
  ReservedMemory holder;
  Sharing sharing = Sharing::no;
  std::optional<std::int64_t> holder_context_bytes;  // what it has in use beside its reserved memory
  std::optional<std::int64_t> failed_context_bytes;
  bool would_fit = true;  // what both use, their contexts and the request; true where the card's size is not known
};

// A context where no file tells its size.
inline constexpr std::int64_t kAssumedContextBytes = std::int64_t{512} << 20;

// `device_of_failed`: of a snapshot, else nullptr.
IdleCache compare_processes(const ReservedMemory& holder, const OutOfMemory& event,
                            const AllocatorDevice* device_of_failed);

}  // namespace vramscope
