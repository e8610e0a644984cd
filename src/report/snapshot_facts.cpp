#include "report/snapshot_facts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/memory_sums.h"

namespace vramscope {

namespace {

struct HeldByName {
  HeldBy by;
  const char* name;
};
constexpr std::array<HeldByName, 7> kHeldByNames{{{HeldBy::stack, "stack"},
                                                  {HeldBy::frame, "frame"},
                                                  {HeldBy::stream, "stream"},
                                                  {HeldBy::pool, "pool"},
                                                  {HeldBy::size, "size"},
                                                  {HeldBy::category, "category"},
                                                  {HeldBy::context, "context"}}};

std::vector<OomEntry> oom_entries(const Source& source, const Case& input, const SnapshotDevice& facts) {
  std::vector<OomEntry> entries;
  if (facts.replay.ooms == 0) return entries;
  const std::vector<OutOfMemory> events =
      oom_events(*facts.device, facts.replay, *source.memory_state, device_total_bytes(input, facts.device->index));
  std::size_t at = 0;
  for (const OutOfMemory& event : events) {
    while (at < facts.device->log.size() && facts.device->log.action[at] != AllocatorAction::oom) ++at;
    entries.push_back({at, event, explain_oom(event, source.memory_state->settings)});
    ++at;
  }
  return entries;
}

// The active blocks of the segments as allocations, so that they can be grouped as those of the log are. A block that
// the log made keeps the entry, which knows its category and context.
Replay active_blocks(const SnapshotDevice& facts, std::int64_t& rounded_bytes) {
  const AllocatorDevice& device = *facts.device;
  std::vector<std::uint32_t> begins(device.blocks.size(), kNone);
  for (const Allocation& allocation : facts.replay.allocations) {
    if (allocation.block < begins.size()) begins[allocation.block] = allocation.begin;
  }
  Replay blocks;
  for (const Segment& segment : device.segments) {
    for (std::uint32_t i = segment.first_block; i < segment.last_block; ++i) {
      const Block& block = device.blocks[i];
      if (!is_active(block.state)) continue;
      const bool is_rounded = block.requested_bytes == kUnknown;
      Allocation allocation;
      allocation.address = block.address;
      allocation.bytes = is_rounded ? block.bytes : block.requested_bytes;
      allocation.stream = segment.stream;
      allocation.begin = begins[i];
      allocation.stack = block.stack;
      allocation.block = i;
      if (is_rounded) rounded_bytes = add_bytes(rounded_bytes, block.bytes);
      blocks.allocations.push_back(allocation);
    }
  }
  return blocks;
}

std::int64_t rounded_part(const SnapshotDevice& facts, const std::vector<std::uint32_t>& live) {
  std::int64_t bytes = 0;
  for (const std::uint32_t i : live) {
    const Allocation& allocation = facts.replay.allocations[i];
    if (allocation.begin != kNone || allocation.block >= facts.device->blocks.size()) continue;
    if (facts.device->blocks[allocation.block].requested_bytes == kUnknown) bytes = add_bytes(bytes, allocation.bytes);
  }
  return bytes;
}

}  // namespace

std::optional<HeldBy> parse_held_by(std::string_view word) {
  for (const HeldByName& each : kHeldByNames) {
    if (word == each.name) return each.by;
  }
  return std::nullopt;
}

const char* held_by_name(HeldBy by) {
  for (const HeldByName& each : kHeldByNames) {
    if (by == each.by) return each.name;
  }
  return "stack";
}

bool wants_device(const DeviceFilter& filter, std::int32_t index) {
  MemoryDevice device;
  device.type = index < 0 ? 0 : 1;
  device.index = index;
  return filter.wants_memory(device);
}

std::optional<std::int64_t> device_total_bytes(const Case& input, std::int32_t index) {
  for (const Source& source : input.sources) {
    for (const DeviceInfo& info : source.environment.devices) {
      if (info.id == index && info.total_memory_bytes) return info.total_memory_bytes;
    }
    for (const OutOfMemory& event : source.out_of_memory) {
      if (event.device == index && event.total_bytes) return event.total_bytes;
    }
  }
  return std::nullopt;
}

std::vector<SnapshotDevice> measure_snapshot(const Source& source, const Case& input, const DeviceFilter& filter) {
  std::vector<SnapshotDevice> all;
  for (const AllocatorDevice& device : source.memory_state->devices) {
    if (!wants_device(filter, device.index)) continue;
    SnapshotDevice facts;
    facts.device = &device;
    facts.replay = replay_log(device);
    facts.use = measure_segments(device);
    facts.churn = measure_churn(device, facts.replay);
    facts.ooms = oom_entries(source, input, facts);
    all.push_back(std::move(facts));
  }
  return all;
}

std::optional<Holders> holders_at(const Source& source, const SnapshotDevice& facts, const SnapshotMoment& moment,
                                  HeldBy by) {
  const std::optional<std::size_t> count = find_snapshot_moment(*facts.device, facts.replay, moment);
  if (!count) return std::nullopt;
  Holders holders;
  holders.count = *count;
  holders.is_snapshot = moment.kind == SnapshotMomentKind::snapshot;
  std::vector<std::uint32_t> live;
  if (holders.is_snapshot) {
    const Replay blocks = active_blocks(facts, holders.rounded_bytes);
    for (std::uint32_t i = 0; i < blocks.allocations.size(); ++i) live.push_back(i);
    holders.groups = group_allocations(source, *facts.device, blocks, live, by);
  } else {
    live = live_allocations(facts.replay, *count);
    holders.rounded_bytes = rounded_part(facts, live);
    holders.groups = group_allocations(source, *facts.device, facts.replay, live, by);
  }
  for (const HeldGroup& group : holders.groups) {
    holders.bytes = add_bytes(holders.bytes, group.bytes);
    holders.allocations = add_bytes(holders.allocations, group.count);
  }
  return holders;
}

}  // namespace vramscope
