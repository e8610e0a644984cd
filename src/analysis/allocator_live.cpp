#include "analysis/allocator_live.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "analysis/memory_sums.h"

namespace vramscope {

namespace {

// The innermost own frame of each stack, each stack and each frame looked at once: stacks share their callers.
class UserFrames {
 public:
  explicit UserFrames(const Source& source) : source_(source) {}

  StringId of(StackId stack) {
    const auto& nodes = source_.trace.stacks.nodes;
    path_.clear();
    StringId found = 0;
    while (stack != 0 && stack < nodes.size()) {
      const auto known = stacks_.find(stack);
      if (known != stacks_.end()) {
        found = known->second;
        break;
      }
      path_.push_back(stack);
      const StringId frame = nodes[stack].frame;
      if (is_own(frame)) {
        found = frame;
        break;
      }
      if (nodes[stack].parent >= stack) break;
      stack = nodes[stack].parent;
    }
    for (const StackId passed : path_) stacks_[passed] = found;
    return found;
  }

 private:
  bool is_own(StringId frame) {
    const auto [slot, is_new] = frames_.try_emplace(frame);
    if (is_new) slot->second = is_own_frame(source_.trace.strings.view(frame));
    return slot->second;
  }

  const Source& source_;
  absl::flat_hash_map<StackId, StringId> stacks_;
  absl::flat_hash_map<StringId, bool> frames_;
  std::vector<StackId> path_;
};

// What allocations are grouped by, as a number.
class Keys {
 public:
  Keys(const Source& source, const AllocatorDevice& device, HeldBy by)
      : source_(source), device_(device), by_(by), frames_(source) {
    for (const Segment& segment : device.segments) segments_.push_back(&segment);
    std::stable_sort(segments_.begin(), segments_.end(),
                     [](const Segment* a, const Segment* b) { return a->address < b->address; });
  }

  std::uint64_t key(const Allocation& allocation) {
    switch (by_) {
      case HeldBy::stack:
        return allocation.stack;
      case HeldBy::frame:
        return frames_.of(allocation.stack);
      case HeldBy::stream:
        return static_cast<std::uint64_t>(allocation.stream);
      case HeldBy::pool:
        return pool_of(allocation);
      case HeldBy::size:
        return static_cast<std::uint64_t>(allocation.bytes);
      case HeldBy::category:
        return note_of(allocation) ? note_of(allocation)->category : 0;
      case HeldBy::context:
        return note_of(allocation) ? note_of(allocation)->compile_context : 0;
    }
    return 0;
  }

  std::string text(std::uint64_t key) const {
    switch (by_) {
      case HeldBy::stack:
      case HeldBy::frame:
        return {};
      case HeldBy::stream:
      case HeldBy::size:
        return std::to_string(static_cast<std::int64_t>(key));
      case HeldBy::pool:
      case HeldBy::category:
      case HeldBy::context:
        return std::string(source_.trace.strings.view(static_cast<StringId>(key)));
    }
    return {};
  }

 private:
  const AllocatorNote* note_of(const Allocation& allocation) const {
    if (allocation.begin >= device_.log.size() || !source_.memory_state) return nullptr;
    const std::uint32_t note = device_.log.note[allocation.begin];
    return note < source_.memory_state->notes.size() ? &source_.memory_state->notes[note] : nullptr;
  }

  // By the entry that made it, else by the segment that now holds its address.
  StringId pool_of(const Allocation& allocation) const {
    const AllocatorNote* note = note_of(allocation);
    if (note != nullptr && note->pool != 0) return note->pool;
    const auto after =
        std::upper_bound(segments_.begin(), segments_.end(), allocation.address,
                         [](std::uint64_t address, const Segment* segment) { return address < segment->address; });
    if (after == segments_.begin()) return 0;
    const Segment& segment = **(after - 1);
    const std::uint64_t offset = allocation.address - segment.address;
    return segment.total_bytes > 0 && offset < static_cast<std::uint64_t>(segment.total_bytes) ? segment.pool : 0;
  }

  const Source& source_;
  const AllocatorDevice& device_;
  const HeldBy by_;
  UserFrames frames_;
  std::vector<const Segment*> segments_;  // by address
};

struct Share {
  std::size_t group = 0;
  StackId stack = 0;
  std::int64_t bytes = 0;
};

// Each group gets the stack that holds most of it; of equals the first.
void name_largest_stacks(const std::vector<Share>& shares, std::vector<HeldGroup>& groups) {
  std::vector<std::int64_t> most(groups.size(), -1);
  for (const Share& share : shares) {
    if (share.bytes <= most[share.group]) continue;
    most[share.group] = share.bytes;
    groups[share.group].stack = share.stack;
  }
}

}  // namespace

std::vector<HeldGroup> group_allocations(const Source& source, const AllocatorDevice& device, const Replay& replay,
                                         const std::vector<std::uint32_t>& live, HeldBy by) {
  Keys keys(source, device, by);
  std::vector<HeldGroup> groups;
  std::vector<Share> shares;
  absl::flat_hash_map<std::uint64_t, std::size_t> group_index;
  absl::flat_hash_map<std::pair<std::size_t, StackId>, std::size_t> share_index;
  for (const std::uint32_t index : live) {
    const Allocation& allocation = replay.allocations[index];
    const std::uint64_t key = keys.key(allocation);
    const auto [slot, is_new] = group_index.try_emplace(key, groups.size());
    if (is_new) {
      groups.emplace_back();
      groups.back().key = keys.text(key);
      if (by == HeldBy::frame) groups.back().frame = static_cast<StringId>(key);
    }
    const std::size_t group = slot->second;
    groups[group].bytes = add_bytes(groups[group].bytes, allocation.bytes);
    ++groups[group].count;
    const auto [share, is_new_share] = share_index.try_emplace({group, allocation.stack}, shares.size());
    if (is_new_share) shares.push_back({group, allocation.stack, 0});
    shares[share->second].bytes = add_bytes(shares[share->second].bytes, allocation.bytes);
  }
  name_largest_stacks(shares, groups);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const HeldGroup& a, const HeldGroup& b) { return a.bytes > b.bytes; });
  return groups;
}

}  // namespace vramscope
