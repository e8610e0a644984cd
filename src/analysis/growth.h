#pragma once
// Does memory rise step after step? Levels at the ends of whole steps, and what was born in each and never freed.
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/memory_pairs.h"
#include "analysis/step_ranges.h"
#include "model/trace.h"

namespace vramscope {

// Blocks made by one operator at one place in the program, of every judged step, that were never freed.
struct KeptGroup {
  StringId op = 0;     // outermost operator; 0 = outside any operator
  StringId frame = 0;  // the user's own frame, else the innermost; 0 = no stack was recorded
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
  std::int64_t steps = 0;  // of the judged steps, in how many
};

enum class GrowthKind : std::uint8_t {
  none,      // memory is steady, falls back, or only warms up
  kept,      // every step leaves blocks behind that are never freed
  replaced,  // the level rises in each step although older blocks are freed: one buffer that gets larger
  level,     // the level rises in each step; the recorded events cannot tell by which blocks: they have no addresses,
             // or the allocator's totals rise by more than the profiler saw
};

struct DeviceGrowth {
  std::uint32_t device = 0;  // index into Trace::memory_devices
  GrowthKind kind = GrowthKind::none;
  // At the end of each step: the allocator's total where written, else the bytes since the start of the recording.
  std::vector<std::int64_t> level;
  std::size_t first = 0;            // the first judged step: those before it are warm-up
  std::int64_t bytes_per_step = 0;  // robust slope
  std::int64_t growth_bytes = 0;    // from the end of step `first - 1` to the end
  double growing_share = 0;         // of the judged steps, how many ended higher than they began
  double regularity = 0;            // 1 = the same growth in every step, 0 = no pattern
  std::int64_t kept_steps = 0;      // steps that could leave something behind, and of them those that did
  std::int64_t steps_that_keep = 0;
  std::int64_t peak_bytes = 0;  // the profiler's largest total, else the highest level
  bool has_addresses = false;
  std::vector<KeptGroup> groups;  // largest first; only those born in nearly every step
};

// The fewest whole steps from which growth is judged: one to warm up and three that rise.
inline constexpr std::size_t kFewestSteps = 4;
// Steps at the beginning that may allocate for good: allocator caches, optimizer state, autotuning.
constexpr std::size_t warm_up_steps(std::size_t steps) {
  return steps >= 8 ? 2 : 1;
}

// Every device with memory events; nothing when there are fewer than kFewestSteps steps.
std::vector<DeviceGrowth> memory_growth(const Trace& trace, const MemoryPairs& pairs, const StepRanges& steps);

// Whether an allocation is still alive at a time after it.
bool is_alive_at(const Trace& trace, const MemoryPairs& pairs, std::size_t event, std::int64_t time_ns);
// The frame to show for a stack: the user's innermost, else the innermost; 0 for no stack.
StringId telling_frame(const Trace& trace, const std::vector<StringId>& stack);

}  // namespace vramscope
