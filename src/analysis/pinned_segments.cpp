#include "analysis/pinned_segments.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "analysis/memory_sums.h"

namespace vramscope {

namespace {

struct Inside {
  std::int64_t free_bytes = 0;
  std::int64_t live_bytes = 0;
  std::int64_t live_blocks = 0;
};

Inside look_into(const AllocatorDevice& device, const Segment& segment) {
  Inside inside;
  for (std::uint32_t i = segment.first_block; i < segment.last_block; ++i) {
    const Block& block = device.blocks[i];
    if (is_active(block.state)) {
      ++inside.live_blocks;
      inside.live_bytes = add_bytes(inside.live_bytes, block.bytes);
    } else {
      inside.free_bytes = add_bytes(inside.free_bytes, block.bytes);
    }
  }
  return inside;
}

}  // namespace

PinnedMemory pinned_memory(const AllocatorDevice& device) {
  PinnedMemory pinned;
  absl::flat_hash_map<std::pair<StackId, std::int64_t>, std::size_t> places;
  for (const Segment& segment : device.segments) {
    const Inside inside = look_into(device, segment);
    if (inside.free_bytes <= 0 || inside.live_blocks == 0) continue;
    ++pinned.segments;
    pinned.free_bytes = add_bytes(pinned.free_bytes, inside.free_bytes);
    pinned.live_bytes = add_bytes(pinned.live_bytes, inside.live_bytes);
    for (std::uint32_t i = segment.first_block; i < segment.last_block; ++i) {
      const Block& block = device.blocks[i];
      if (!is_active(block.state)) continue;
      const auto [place, is_new] = places.try_emplace({block.stack, block.bytes}, pinned.groups.size());
      if (is_new) pinned.groups.push_back({block.stack, block.bytes, 0, 0, 0});
      PinningBlocks& group = pinned.groups[place->second];
      ++group.blocks;
      group.bytes = add_bytes(group.bytes, block.bytes);
      group.pinned_bytes = add_bytes(group.pinned_bytes, inside.free_bytes / inside.live_blocks);
    }
  }
  std::stable_sort(pinned.groups.begin(), pinned.groups.end(),
                   [](const PinningBlocks& a, const PinningBlocks& b) { return a.pinned_bytes > b.pinned_bytes; });
  return pinned;
}

}  // namespace vramscope
