#include "analysis/allocator_replay.h"

#include <algorithm>
#include <utility>

#include "analysis/address_table.h"
#include "analysis/memory_sums.h"

namespace vramscope {

namespace {

std::int64_t bytes_or_zero(std::int64_t bytes) {
  return bytes < 0 ? 0 : bytes;  // kUnknown is negative too
}

class Replayer {
 public:
  explicit Replayer(const AllocatorDevice& device) : device_(device), log_(device.log) {}

  Replay run() {
    read_log();
    match_blocks();
    judge_end();
    order_allocations();
    sum_live();
    sum_reserved();
    return std::move(replay_);
  }

 private:
  void read_log() {
    const std::size_t entries = log_.size();
    replay_.live_bytes.resize(entries, 0);  // the changes at first, see sum_live
    replay_.reserved_bytes.resize(entries, 0);
    const bool has_completed =
        std::find(log_.action.begin(), log_.action.end(), AllocatorAction::free_completed) != log_.action.end();
    freeing_ = has_completed ? AllocatorAction::free_completed : AllocatorAction::free_requested;
    const auto allocs = std::count(log_.action.begin(), log_.action.end(), AllocatorAction::alloc);
    allocations_.reserve(static_cast<std::size_t>(allocs) + device_.blocks.size());  // the baseline goes in front
    constexpr std::size_t kAhead = 12;  // entries, so that their addresses are at hand when their turn comes
    for (std::size_t i = 0; i < entries; ++i) {
      if (i + kAhead < entries) last_.prefetch(log_.address[i + kAhead]);
      read_entry(static_cast<std::uint32_t>(i));
      if (log_.time_ns[i] == kUnknown) continue;
      if (replay_.first_time_ns == kUnknown) replay_.first_time_ns = log_.time_ns[i];
      replay_.last_time_ns = log_.time_ns[i];
    }
  }

  void read_entry(std::uint32_t i) {
    switch (log_.action[i]) {
      case AllocatorAction::alloc:
        add_alloc(i);
        break;
      case AllocatorAction::free_requested:
      case AllocatorAction::free_completed:
        if (log_.action[i] == freeing_) add_free(i);
        break;
      case AllocatorAction::segment_alloc:
      case AllocatorAction::segment_map:
        ++replay_.device_allocs;
        replay_.reserved_bytes[i] = bytes_or_zero(log_.bytes[i]);
        break;
      case AllocatorAction::segment_free:
      case AllocatorAction::segment_unmap:
        ++replay_.device_frees;
        replay_.reserved_bytes[i] = -bytes_or_zero(log_.bytes[i]);
        break;
      case AllocatorAction::oom:
        ++replay_.ooms;
        break;
      case AllocatorAction::snapshot:
      case AllocatorAction::other:
        break;
    }
  }

  void add_alloc(std::uint32_t i) {
    ++replay_.allocs;
    const auto index = static_cast<std::uint32_t>(allocations_.size());
    Allocation allocation;
    allocation.address = log_.address[i];
    allocation.bytes = bytes_or_zero(log_.bytes[i]);
    allocation.stream = log_.stream[i];
    allocation.begin = i;
    allocation.stack = log_.stack[i];
    allocations_.push_back(allocation);
    replay_.live_bytes[i] = allocation.bytes;
    if (allocation.address == kUnknownAddress) return;  // nothing can free it
    AddressTable::Last& last = last_.at(allocation.address);
    if (last.is_live) {
      ++replay_.allocs_over_live;
      end(last.allocation, i);
    }
    last.allocation = index;
    last.is_live = true;
  }

  void add_free(std::uint32_t i) {
    const std::uint64_t address = log_.address[i];
    if (address == kUnknownAddress) {
      ++replay_.frees_without_alloc;
      return;
    }
    AddressTable::Last& last = last_.at(address);
    const bool is_new = last.allocation == kNone && !last.was_freed;
    last.was_freed = true;
    if (last.is_live) {
      last.is_live = false;
      ++replay_.frees;
      end(last.allocation, i);
      return;
    }
    ++replay_.frees_without_alloc;
    // Freed twice without an allocation between: the log lost that allocation, which is no baseline.
    if (!is_new) return;
    ++replay_.frees;
    Allocation allocation;
    allocation.address = address;
    allocation.bytes = bytes_or_zero(log_.bytes[i]);
    allocation.stream = log_.stream[i];
    allocation.end = i;
    baseline_.push_back(allocation);
    replay_.live_bytes[i] = subtract_bytes(replay_.live_bytes[i], allocation.bytes);
  }

  void end(std::uint32_t allocation, std::uint32_t entry) {
    allocations_[allocation].end = entry;
    replay_.live_bytes[entry] = subtract_bytes(replay_.live_bytes[entry], allocations_[allocation].bytes);
  }

  void match_blocks() {
    for (const Segment& segment : device_.segments) {
      const std::size_t end = std::min<std::size_t>(segment.last_block, device_.blocks.size());
      for (std::size_t i = segment.first_block; i < end; ++i) {
        if (is_active(device_.blocks[i].state)) match_block(static_cast<std::uint32_t>(i), segment.stream);
      }
    }
  }

  void match_block(std::uint32_t index, std::int64_t stream) {
    const Block& block = device_.blocks[index];
    const bool is_rounded = block.requested_bytes < 0;
    const std::int64_t bytes = bytes_or_zero(is_rounded ? block.bytes : block.requested_bytes);
    replay_.end_blocks_bytes = add_bytes(replay_.end_blocks_bytes, bytes);
    const AddressTable::Last* last = block.address == kUnknownAddress ? nullptr : last_.find(block.address);
    if (last == nullptr) {
      Allocation allocation;
      allocation.address = block.address;
      allocation.bytes = bytes;
      allocation.stream = stream;
      allocation.stack = block.stack;
      allocation.block = index;
      baseline_.push_back(allocation);
      if (is_rounded) replay_.baseline_rounded_bytes = add_bytes(replay_.baseline_rounded_bytes, bytes);
      return;
    }
    if (last->allocation == kNone) {
      unlogged_bytes_ = add_bytes(unlogged_bytes_, bytes);
      return;
    }
    Allocation& allocation = allocations_[last->allocation];
    // The same address with another size: freed and allocated again after the log. A rounded size tells nothing.
    const bool is_same = is_rounded || block.requested_bytes == allocation.bytes;
    const bool is_pending = block.state == BlockState::pending_free && freeing_ == AllocatorAction::free_requested;
    if (!is_same || allocation.block != kNone || (!last->is_live && !is_pending)) {
      unlogged_bytes_ = add_bytes(unlogged_bytes_, bytes);
      return;
    }
    allocation.block = index;
    if (!last->is_live) reopen(allocation);
  }

  // The log has no completed frees, and the block says that this one has not been completed.
  void reopen(Allocation& allocation) {
    replay_.live_bytes[allocation.end] = add_bytes(replay_.live_bytes[allocation.end], allocation.bytes);
    allocation.end = kNone;
    --replay_.frees;
  }

  void judge_end() {
    if (replay_.allocs + replay_.frees_without_alloc + replay_.device_allocs + replay_.device_frees == 0) {
      replay_.mismatch = EndMismatch::no_log;
      return;
    }
    std::int64_t freed_bytes = 0;
    bool has_freed = false;
    for (const Allocation& allocation : allocations_) {
      if (allocation.end != kNone || allocation.block != kNone) continue;
      has_freed = true;
      freed_bytes = add_bytes(freed_bytes, allocation.bytes);
    }
    if (has_freed && freed_bytes >= unlogged_bytes_) {
      replay_.mismatch = EndMismatch::freed_after_log;
    } else if (unlogged_bytes_ > 0) {
      replay_.mismatch = EndMismatch::log_incomplete;
    }
  }

  void order_allocations() {
    std::stable_sort(baseline_.begin(), baseline_.end(),
                     [](const Allocation& a, const Allocation& b) { return a.address < b.address; });
    for (const Allocation& allocation : baseline_) {
      replay_.baseline_bytes = add_bytes(replay_.baseline_bytes, allocation.bytes);
    }
    replay_.baseline_count = static_cast<std::int64_t>(baseline_.size());
    allocations_.insert(allocations_.begin(), baseline_.begin(), baseline_.end());
    replay_.allocations = std::move(allocations_);
  }

  void sum_live() {
    std::int64_t live = replay_.baseline_bytes;
    replay_.peak_bytes = live;
    for (std::size_t i = 0; i < replay_.live_bytes.size(); ++i) {
      live = add_bytes(live, replay_.live_bytes[i]);
      replay_.live_bytes[i] = live;
      if (live <= replay_.peak_bytes) continue;
      replay_.peak_bytes = live;
      replay_.peak_count = i + 1;
    }
    replay_.end_bytes = live;
  }

  // From the segments at the end backwards. What the segments no longer have, since it was given back after the log,
  // would make the curve negative: it is lifted to 0 then.
  void sum_reserved() {
    std::int64_t change = 0;
    std::int64_t lowest = 0;
    for (const std::int64_t each : replay_.reserved_bytes) {
      change = add_bytes(change, each);
      lowest = std::min(lowest, change);
    }
    std::int64_t reserved = 0;
    for (const Segment& segment : device_.segments) {
      reserved = add_bytes(reserved, bytes_or_zero(segment.total_bytes));
    }
    reserved = std::max(subtract_bytes(reserved, change), subtract_bytes(0, lowest));
    replay_.baseline_reserved_bytes = reserved;
    for (std::int64_t& each : replay_.reserved_bytes) {
      reserved = add_bytes(reserved, each);
      each = reserved;
    }
  }

  const AllocatorDevice& device_;
  const AllocatorLog& log_;
  AllocatorAction freeing_ = AllocatorAction::free_completed;
  AddressTable last_;
  std::vector<Allocation> allocations_;  // of the log
  std::vector<Allocation> baseline_;
  std::int64_t unlogged_bytes_ = 0;  // active blocks that the log cannot account for
  Replay replay_;
};

}  // namespace

Replay replay_log(const AllocatorDevice& device) {
  return Replayer(device).run();
}

std::vector<std::uint32_t> live_allocations(const Replay& replay, std::size_t count) {
  std::vector<std::uint32_t> live;
  for (std::size_t i = 0; i < replay.allocations.size(); ++i) {
    if (replay.allocations[i].is_live_after(count)) live.push_back(static_cast<std::uint32_t>(i));
  }
  return live;
}

std::optional<std::size_t> entries_until(const AllocatorLog& log, std::int64_t time_ns) {
  bool has_times = false;
  for (std::size_t i = log.size(); i-- > 0;) {
    if (log.time_ns[i] == kUnknown) continue;
    if (log.time_ns[i] <= time_ns) return i + 1;
    has_times = true;
  }
  if (!has_times) return std::nullopt;
  return 0;
}

}  // namespace vramscope
