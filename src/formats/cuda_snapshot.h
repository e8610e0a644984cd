#pragma once
// Words of PyTorch's CUDA memory snapshots (torch.cuda.memory._dump_snapshot), torch 2.0 to 2.9.
// Source: the files themselves; torch/csrc/cuda/memory_snapshot.cpp and c10/cuda/CUDACachingAllocator.h.
#include <string_view>

#include "model/memory_state.h"

namespace vramscope::cuda_snapshot {

// AllocatorAction::other for one that is not in the list.
AllocatorAction action_of(std::string_view name);
// The file's word; "free" stands as "free_completed". Empty for other.
std::string_view name_of(AllocatorAction action);
BlockState block_state_of(std::string_view name);
SegmentPool pool_of(std::string_view segment_type);

}  // namespace vramscope::cuda_snapshot
