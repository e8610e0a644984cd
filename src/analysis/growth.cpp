#include "analysis/growth.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/frames.h"
#include "analysis/level_trend.h"
#include "analysis/memory_sums.h"
#include "analysis/ranges.h"

namespace vramscope {

namespace {

constexpr double kNearlyAll = 0.9;
constexpr double kMost = 0.8;

double share(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

struct Walk {
  std::int64_t seen_growth = 0;         // what the recorded events of the judged steps add up to
  std::vector<std::int64_t> allocated;  // per step
  std::vector<std::int64_t> kept;       // per step: born in it and alive at the end of the last
  std::vector<std::uint32_t> kept_events;
};

// One pass over the device's events: levels, and what each step leaves behind.
Walk walk_events(const Trace& trace, const MemoryPairs& pairs, const StepRanges& steps, DeviceGrowth& out) {
  Walk walk;
  walk.allocated.assign(steps.size(), 0);
  walk.kept.assign(steps.size(), 0);
  out.level.assign(steps.size(), 0);
  const MemoryEvents& memory = trace.memory;
  const std::int64_t end = steps.ranges.back().end_ns;
  std::int64_t level = 0;
  std::size_t step = 0;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (memory.device[i] != out.device) continue;
    // A step lasts until the next begins: what happens between two belongs to the earlier one.
    const auto ends = [&](std::size_t s) {
      return s + 1 < steps.size() ? steps.ranges[s + 1].begin_ns : steps.ranges[s].end_ns;
    };
    while (step < steps.size() && memory.time_ns[i] >= ends(step)) out.level[step++] = level;
    // The allocator's own total also knows what threads did that the profiler did not follow.
    level = memory.total_allocated[i] != kUnknown ? memory.total_allocated[i] : add_bytes(level, memory.bytes[i]);
    out.peak_bytes = std::max(out.peak_bytes, level);
    const std::uint32_t born = steps.index_at(memory.time_ns[i]);
    if (born == kNone) continue;
    if (born >= out.first) walk.seen_growth = add_bytes(walk.seen_growth, memory.bytes[i]);
    if (memory.bytes[i] <= 0) continue;
    walk.allocated[born] = add_bytes(walk.allocated[born], memory.bytes[i]);
    if (memory.address[i] == kUnknownAddress || !is_alive_at(trace, pairs, i, end)) continue;
    walk.kept[born] = add_bytes(walk.kept[born], memory.bytes[i]);
    if (born >= out.first && born + 1 < steps.size()) walk.kept_events.push_back(static_cast<std::uint32_t>(i));
  }
  while (step < steps.size()) out.level[step++] = level;
  return walk;
}

std::vector<KeptGroup> group_kept(const Trace& trace, const StepRanges& steps, const Walk& walk, std::int64_t judged) {
  std::map<std::pair<StringId, StringId>, std::pair<KeptGroup, std::uint32_t>> groups;
  for (const std::uint32_t event : walk.kept_events) {
    const SpanIndex op = outermost_op(trace, trace.memory.span[event]);
    const StringId name = op == kNone ? 0 : trace.spans.name[op];
    const StringId frame = telling_frame(trace, trace.stack_of_memory(event));
    auto& [group, last_step] = groups.try_emplace({name, frame}, KeptGroup{name, frame}, kNone).first->second;
    group.bytes = add_bytes(group.bytes, trace.memory.bytes[event]);
    ++group.blocks;
    const std::uint32_t born = steps.index_at(trace.memory.time_ns[event]);
    if (born != last_step) ++group.steps;  // events come in order of time
    last_step = born;
  }
  std::vector<KeptGroup> found;
  for (const auto& [key, entry] : groups) {
    if (share(entry.first.steps, judged) >= kMost) found.push_back(entry.first);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const KeptGroup& a, const KeptGroup& b) { return a.bytes > b.bytes; });
  return found;
}

// Each step leaves about the same behind, and nothing older is freed in exchange.
bool leaves_blocks(const DeviceGrowth& growth, const std::vector<std::int64_t>& kept) {
  if (growth.kept_steps < 2 || share(growth.steps_that_keep, growth.kept_steps) < kNearlyAll) return false;
  const std::int64_t usual = median(kept);
  std::int64_t total = 0;
  std::int64_t alike = 0;
  for (const std::int64_t bytes : kept) {
    total = add_bytes(total, bytes);
    if (bytes >= usual / 4) ++alike;
  }
  return usual > 0 && share(alike, growth.kept_steps) >= kMost && growth.growth_bytes >= total / 2;
}

void judge(const Trace& trace, const StepRanges& steps, const Walk& walk, DeviceGrowth& growth) {
  const std::vector<std::int64_t>& level = growth.level;
  const std::vector<std::int64_t> rises = differences(level, growth.first);
  growth.growth_bytes = subtract_bytes(level.back(), level[growth.first - 1]);
  growth.growing_share = share(std::count_if(rises.begin(), rises.end(), [](auto rise) { return rise > 0; }),
                               static_cast<std::int64_t>(rises.size()));
  // What is born in the last step may still be freed in the next.
  const std::vector<std::int64_t> kept(walk.kept.begin() + static_cast<std::ptrdiff_t>(growth.first),
                                       walk.kept.end() - 1);
  growth.kept_steps = static_cast<std::int64_t>(kept.size());
  growth.steps_that_keep = std::count_if(kept.begin(), kept.end(), [](auto bytes) { return bytes > 0; });
  if (growth.growth_bytes <= 0) return;
  const std::int64_t slope = robust_slope(level, growth.first - 1);
  const bool steady = growth.growing_share >= kNearlyAll && slope > 0 && !slows_down(rises) &&
                      largest_fall(level, growth.first - 1) <= growth.growth_bytes / 4;
  if (growth.has_addresses && leaves_blocks(growth, kept)) {
    growth.kind = GrowthKind::kept;
    growth.bytes_per_step = steady ? slope : median(kept);
    growth.regularity = regularity_of(steady ? rises : kept);
    growth.groups = group_kept(trace, steps, walk, growth.kept_steps);
    return;
  }
  // Longer inputs: far more is allocated from step to step than stays.
  const std::int64_t more = subtract_bytes(walk.allocated.back(), walk.allocated[growth.first - 1]);
  if (!steady || more / 3 > growth.growth_bytes) return;
  const bool is_seen = walk.seen_growth >= growth.growth_bytes / 2;
  growth.kind = growth.has_addresses && is_seen ? GrowthKind::replaced : GrowthKind::level;
  growth.bytes_per_step = slope;
  growth.regularity = regularity_of(rises);
}

}  // namespace

bool is_alive_at(const Trace& trace, const MemoryPairs& pairs, std::size_t event, std::int64_t time_ns) {
  const std::uint32_t end = pairs.partner[event];
  return end == kNone || trace.memory.time_ns[end] >= time_ns;
}

StringId telling_frame(const Trace& trace, const std::vector<StringId>& stack) {
  if (stack.empty()) return 0;
  const StringId own = first_user_frame(trace.strings, stack);
  return own != 0 ? own : stack.front();
}

std::vector<DeviceGrowth> memory_growth(const Trace& trace, const MemoryPairs& pairs, const StepRanges& steps) {
  std::vector<DeviceGrowth> all;
  if (steps.size() < kFewestSteps) return all;
  for (std::uint32_t device = 0; device < trace.memory_devices.size(); ++device) {
    DeviceGrowth growth;
    growth.device = device;
    growth.first = warm_up_steps(steps.size());
    growth.has_addresses = pairs.by_device[device].with_address > 0 && pairs.by_device[device].without_address == 0;
    const Walk walk = walk_events(trace, pairs, steps, growth);
    judge(trace, steps, walk, growth);
    all.push_back(std::move(growth));
  }
  return all;
}

}  // namespace vramscope
