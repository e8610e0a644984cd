#pragma once
// Who holds the memory of a caching allocator at one moment: live allocations in groups.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/allocator_replay.h"
#include "model/memory_state.h"
#include "model/source.h"

namespace vramscope {

enum class HeldBy : std::uint8_t { stack, frame, stream, pool, size, category, context };

struct HeldGroup {
  std::string key;  // stream number, pool id, size ("2.00 MiB"-style keys are made by reports: here bytes as text), …
  StackId stack = 0;       // grouped by stack: it; else the stack that holds most of the group
  StringId frame = 0;      // grouped by frame: the innermost frame of the user's own code (analysis/frames.h), 0 = none
  std::int64_t bytes = 0;  // as asked for
  std::int64_t count = 0;
};

// Most bytes first, of equals the first allocated. `live` as live_allocations() gives it.
std::vector<HeldGroup> group_allocations(const Source& source, const AllocatorDevice& device, const Replay& replay,
                                         const std::vector<std::uint32_t>& live, HeldBy by);

// Frames of a stack, innermost first, without those of the profiler and the interpreter ("torch::unwind…",
// "torch::CapturedTraceback…", "_PyEval…", "??"), which stand between all others: what a person reads. All frames where
// nothing else is left.
std::vector<StringId> readable_frames(const Source& source, StackId stack);
// The innermost frame that is the user's own, or 0.
StringId user_frame(const Source& source, StackId stack);
// Whether a frame of a snapshot is the user's own: as is_user_frame (analysis/frames.h), and not a native one.
bool is_own_frame(std::string_view frame);

// What grew from one snapshot to a later one of the same device, by stack: by the active blocks of the segments, or by
// the log where there are no segments. Stacks are compared by their frames' text. Most growth first; what shrank is
// left out.
struct StackGrowth {
  StackId stack = 0;  // in the later source
  std::int64_t before_bytes = 0, after_bytes = 0;
  std::int64_t before_count = 0, after_count = 0;
};
std::vector<StackGrowth> growth_between(const Source& earlier, const AllocatorDevice& before, const Source& later,
                                        const AllocatorDevice& after);

}  // namespace vramscope
