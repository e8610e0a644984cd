#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "analysis/allocator_replay.h"
#include "analysis/memory_sums.h"

namespace vramscope {

namespace {

// An operator's own working memory is freed within a few entries; what a layer keeps for the backward pass is not.
constexpr std::uint32_t kWindowEntries = 64;

class Groups {
 public:
  void add(StackId stack, std::int64_t bytes) {
    const auto [slot, is_new] = index_.try_emplace(stack, groups_.size());
    if (is_new) groups_.push_back({stack, 0, 0});
    ChurnGroup& group = groups_[slot->second];
    ++group.count;
    group.bytes = add_bytes(group.bytes, bytes);
  }
  std::vector<ChurnGroup> most_bytes_first() {
    std::stable_sort(groups_.begin(), groups_.end(),
                     [](const ChurnGroup& a, const ChurnGroup& b) { return a.bytes > b.bytes; });
    return std::move(groups_);
  }
  std::vector<ChurnGroup> most_often_first() {
    std::stable_sort(groups_.begin(), groups_.end(),
                     [](const ChurnGroup& a, const ChurnGroup& b) { return a.count > b.count; });
    return std::move(groups_);
  }

 private:
  absl::flat_hash_map<StackId, std::size_t> index_;
  std::vector<ChurnGroup> groups_;
};

// Segments given back that were not taken again yet: whole ones by size, mapped pages by the byte, since the allocator
// gives neighbouring pages back in one piece.
class GivenBack {
 public:
  void give(std::int64_t bytes, bool is_mapped) {
    if (is_mapped) {
      mapped_bytes_ = add_bytes(mapped_bytes_, bytes);
    } else {
      ++by_size_[bytes];
    }
  }
  // How many of the bytes had been given back before.
  std::int64_t take(std::int64_t bytes, bool is_mapped) {
    if (is_mapped) {
      const std::int64_t again = std::min(bytes, mapped_bytes_);
      mapped_bytes_ -= again;
      return again;
    }
    const auto found = by_size_.find(bytes);
    if (found == by_size_.end() || found->second == 0) return 0;
    --found->second;
    return bytes;
  }

 private:
  std::int64_t mapped_bytes_ = 0;
  absl::flat_hash_map<std::int64_t, std::int64_t> by_size_;
};

void measure_segment_churn(const AllocatorLog& log, Churn& churn) {
  GivenBack given_back;
  Groups groups;
  for (std::size_t i = 0; i < log.size(); ++i) {
    const AllocatorAction action = log.action[i];
    const bool is_mapped = action == AllocatorAction::segment_map || action == AllocatorAction::segment_unmap;
    const std::int64_t bytes = std::max<std::int64_t>(log.bytes[i], 0);
    if (action == AllocatorAction::segment_free || action == AllocatorAction::segment_unmap) {
      ++churn.segment_frees;
      churn.segment_free_bytes = add_bytes(churn.segment_free_bytes, bytes);
      given_back.give(bytes, is_mapped);
    } else if (action == AllocatorAction::segment_alloc || action == AllocatorAction::segment_map) {
      ++churn.segment_allocs;
      churn.segment_alloc_bytes = add_bytes(churn.segment_alloc_bytes, bytes);
      const std::int64_t again = given_back.take(bytes, is_mapped);
      if (again == 0) continue;
      ++churn.segments_taken_again;
      churn.segments_taken_again_bytes = add_bytes(churn.segments_taken_again_bytes, again);
      if (churn.first_taken_again == kUnknown) churn.first_taken_again = static_cast<std::int64_t>(i);
      groups.add(log.stack[i], again);
    }
  }
  churn.segment_groups = groups.most_often_first();
}

}  // namespace

Churn measure_churn(const AllocatorDevice& device, const Replay& replay) {
  Churn churn;
  churn.window_entries = kWindowEntries;
  Groups groups;
  for (const Allocation& allocation : replay.allocations) {
    if (allocation.begin == kNone || allocation.end == kNone) continue;
    if (allocation.end - allocation.begin > kWindowEntries) continue;
    ++churn.short_lived;
    churn.short_lived_bytes = add_bytes(churn.short_lived_bytes, allocation.bytes);
    groups.add(allocation.stack, allocation.bytes);
  }
  churn.groups = groups.most_bytes_first();
  measure_segment_churn(device.log, churn);
  return churn;
}

}  // namespace vramscope
