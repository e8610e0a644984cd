#include <algorithm>
#include <functional>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "analysis/allocator_live.h"
#include "analysis/memory_sums.h"

namespace vramscope {

namespace {

constexpr std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// A number for each stack that depends on the text of its frames alone, so that stacks of two files can be compared.
// Callers come before what they call, so one pass does.
std::vector<std::uint64_t> stack_marks(const Source& source) {
  const auto& nodes = source.trace.stacks.nodes;
  std::vector<std::uint64_t> marks(nodes.size(), 0);
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    const std::uint64_t parent = nodes[i].parent < i ? marks[nodes[i].parent] : 0;
    const std::uint64_t frame = std::hash<std::string_view>{}(source.trace.strings.view(nodes[i].frame));
    marks[i] = mix(parent + 0x9e3779b97f4a7c15u) ^ mix(frame);
  }
  return marks;
}

struct Held {
  StackId stack = 0;
  std::int64_t bytes = 0;
  std::int64_t count = 0;
};

class HeldByStack {
 public:
  HeldByStack(const Source& source, const AllocatorDevice& device) : marks_(stack_marks(source)) {
    if (!device.segments.empty()) {
      for (const Block& block : device.blocks) {
        if (is_active(block.state)) add(block.stack, block.requested_bytes < 0 ? block.bytes : block.requested_bytes);
      }
      return;
    }
    const Replay replay = replay_log(device);
    for (const std::uint32_t i : live_allocations(replay, device.log.size())) {
      add(replay.allocations[i].stack, replay.allocations[i].bytes);
    }
  }

  const std::vector<Held>& groups() const { return groups_; }
  std::uint64_t mark(StackId stack) const { return stack < marks_.size() ? marks_[stack] : 0; }
  Held find(std::uint64_t mark) const {
    const auto found = index_.find(mark);
    return found == index_.end() ? Held{} : groups_[found->second];
  }

 private:
  void add(StackId stack, std::int64_t bytes) {
    const auto [slot, is_new] = index_.try_emplace(mark(stack), groups_.size());
    if (is_new) groups_.push_back({stack, 0, 0});
    Held& held = groups_[slot->second];
    held.bytes = add_bytes(held.bytes, std::max<std::int64_t>(bytes, 0));
    ++held.count;
  }

  std::vector<std::uint64_t> marks_;
  absl::flat_hash_map<std::uint64_t, std::size_t> index_;
  std::vector<Held> groups_;
};

}  // namespace

std::vector<StackGrowth> growth_between(const Source& earlier, const AllocatorDevice& before, const Source& later,
                                        const AllocatorDevice& after) {
  const HeldByStack first(earlier, before);
  const HeldByStack last(later, after);
  std::vector<StackGrowth> grown;
  for (const Held& held : last.groups()) {
    const Held was = first.find(last.mark(held.stack));
    if (held.bytes <= was.bytes) continue;
    grown.push_back({held.stack, was.bytes, held.bytes, was.count, held.count});
  }
  std::stable_sort(grown.begin(), grown.end(), [](const StackGrowth& a, const StackGrowth& b) {
    return subtract_bytes(a.after_bytes, a.before_bytes) > subtract_bytes(b.after_bytes, b.before_bytes);
  });
  return grown;
}

}  // namespace vramscope
