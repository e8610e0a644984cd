#include "formats/cuda_snapshot.h"

namespace vramscope::cuda_snapshot {

namespace {

struct Known {
  std::string_view name;
  AllocatorAction action;
};

constexpr Known kActions[] = {
    {"alloc", AllocatorAction::alloc},
    {"free_requested", AllocatorAction::free_requested},
    {"free_completed", AllocatorAction::free_completed},
    {"segment_alloc", AllocatorAction::segment_alloc},
    {"segment_free", AllocatorAction::segment_free},
    {"segment_map", AllocatorAction::segment_map},
    {"segment_unmap", AllocatorAction::segment_unmap},
    {"snapshot", AllocatorAction::snapshot},
    {"oom", AllocatorAction::oom},
    {"free", AllocatorAction::free_completed},
};

}  // namespace

AllocatorAction action_of(std::string_view name) {
  for (const Known& known : kActions) {
    if (known.name == name) return known.action;
  }
  return AllocatorAction::other;
}

std::string_view name_of(AllocatorAction action) {
  for (const Known& known : kActions) {
    if (known.action == action) return known.name;
  }
  return {};
}

BlockState block_state_of(std::string_view name) {
  if (name == "active_allocated") return BlockState::allocated;
  if (name == "active_pending_free" || name == "active_awaiting_free") return BlockState::pending_free;
  if (name == "inactive") return BlockState::free;
  return BlockState::unknown;
}

SegmentPool pool_of(std::string_view segment_type) {
  if (segment_type == "small") return SegmentPool::small;
  if (segment_type == "large") return SegmentPool::large;
  return SegmentPool::unknown;
}

}  // namespace vramscope::cuda_snapshot
