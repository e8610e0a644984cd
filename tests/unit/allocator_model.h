#pragma once
// A small caching allocator that does what PyTorch's does, keeps books of its own and writes a log and a snapshot.
// Tests compare what the analyses derive from the log and the snapshot with the books.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "model/source.h"

namespace vramscope {

class AllocatorModel {
 public:
  struct Options {
    bool is_expandable = false;
    std::int64_t streams = 1;
    StackId stacks = 5;  // stacks 1..stacks are handed out
  };
  // What the books say when `entries` log entries have been written.
  struct FreePieces {
    std::int64_t bytes = 0, largest = 0, count = 0, whole_segments = 0;
  };
  struct Books {
    std::size_t entries = 0;
    std::int64_t allocations = 0;
    std::int64_t allocated_bytes = 0;                            // rounded, until the free was completed
    std::map<std::pair<std::int64_t, bool>, FreePieces> pieces;  // by stream and "large pool"
    std::map<StackId, std::pair<std::int64_t, std::int64_t>> by_stack;
  };
  struct Entry {
    AllocatorAction action = AllocatorAction::other;
    std::uint64_t address = kUnknownAddress;
    std::int64_t bytes = 0;
    std::int64_t stream = 0;
    StackId stack = 0;
    std::int64_t live_after = 0;  // requested bytes
    std::int64_t reserved_after = 0;
    std::size_t alloc = 0;  // of a completed free: number of the entry that allocated it
  };
  struct Sums {
    std::int64_t allocated = 0, active = 0, requested = 0, reserved = 0, split = 0;
    std::int64_t allocations = 0, active_blocks = 0, segments = 0, splits = 0;
  };

  AllocatorModel(std::uint64_t seed, const Options& options) : random_(seed), options_(options) {}

  // One thing that a program does.
  void step() {
    complete_frees(pick(4) == 0);
    const std::uint64_t dice = pick(100);
    if (dice < 52 || live_.empty()) {
      allocate();
    } else if (dice < 95) {
      free_one();
    } else if (dice < 97) {
      empty_cache();
    } else if (dice < 98) {
      out_of_memory();
    } else {
      books_.push_back(books());
    }
  }

  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<Books>& noted() const { return books_; }

  Books books() const {
    Books now;
    now.entries = entries_.size();
    for (const Region& region : regions_) {
      FreePieces& pieces = now.pieces[{region.stream, region.is_large}];
      for (const auto& [address, block] : region.blocks) {
        if (block.is_active()) {
          now.allocated_bytes += block.bytes;
          ++now.allocations;
          auto& [bytes, count] = now.by_stack[block.stack];
          bytes += block.requested;
          ++count;
          continue;
        }
        pieces.bytes += block.bytes;
        pieces.largest = std::max(pieces.largest, block.bytes);
        ++pieces.count;
        const auto before = region.blocks.find(address);
        const bool is_first = before == region.blocks.begin() || end_of(*std::prev(before)) != address;
        const auto next = std::next(before);
        const bool is_last = next == region.blocks.end() || next->first != end_of(*before);
        if (is_first && is_last) pieces.whole_segments += block.bytes;
      }
    }
    return now;
  }

  // Of the pool: true large, false small, empty both. What memory_stats() has as "current".
  Sums sums(std::optional<bool> large) const {
    Sums sums;
    for (const Region& region : regions_) {
      if (large && region.is_large != *large) continue;
      const auto ranges = ranges_of(region);
      sums.segments += static_cast<std::int64_t>(ranges.size());
      for (const auto& [address, block] : region.blocks) {
        sums.reserved += block.bytes;
        if (block.is_live) {
          sums.allocated += block.bytes;
          ++sums.allocations;
        }
        if (block.is_active()) {
          sums.active += block.bytes;
          sums.requested += block.requested;
          ++sums.active_blocks;
        } else if (!region.is_expandable && region.blocks.size() > 1) {
          sums.split += block.bytes;
          ++sums.splits;
        }
      }
    }
    return sums;
  }

  // The device as a file would hold it: the log without its first `cut` entries.
  AllocatorDevice snapshot(std::size_t cut) const {
    AllocatorDevice device;
    device.index = 0;
    for (std::size_t i = cut; i < entries_.size(); ++i) {
      const Entry& entry = entries_[i];
      device.log.action.push_back(entry.action);
      device.log.time_ns.push_back(1'000'000 + static_cast<std::int64_t>(i) * 10);
      device.log.address.push_back(entry.address);
      device.log.bytes.push_back(entry.bytes);
      device.log.stream.push_back(entry.stream);
      device.log.stack.push_back(entry.stack);
      device.log.note.push_back(kNone);
    }
    std::map<std::uint64_t, std::pair<const Region*, std::uint64_t>> ranges;
    for (const Region& region : regions_) {
      for (const auto& [begin, end] : ranges_of(region)) ranges[begin] = {&region, end};
    }
    for (const auto& [begin, range] : ranges) add_segment(device, *range.first, begin, range.second);
    return device;
  }

 private:
  struct Block {
    std::int64_t bytes = 0;
    std::int64_t requested = 0;
    StackId stack = 0;
    std::size_t alloc = 0;
    bool is_live = false;
    bool is_pending = false;  // freed by the program, not yet by the stream
    bool is_active() const { return is_live || is_pending; }
  };
  using Blocks = std::map<std::uint64_t, Block>;
  // Memory of one cudaMalloc, or the address range of one expandable segment.
  struct Region {
    std::uint64_t base = 0;
    std::int64_t stream = 0;
    bool is_large = false;
    bool is_expandable = false;
    Blocks blocks;  // mapped memory without overlap; what lies between blocks is not mapped
  };

  static constexpr std::int64_t kMiB = 1 << 20;
  static constexpr std::uint64_t end_of(const Blocks::value_type& block) {
    return block.first + static_cast<std::uint64_t>(block.second.bytes);
  }
  static std::int64_t page(const Region& region) { return region.is_large ? 20 * kMiB : 2 * kMiB; }
  std::uint64_t pick(std::uint64_t below) { return random_() % below; }

  static std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges_of(const Region& region) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    for (const auto& block : region.blocks) {
      if (ranges.empty() || ranges.back().second != block.first) ranges.push_back({block.first, block.first});
      ranges.back().second = end_of(block);
    }
    return ranges;
  }

  void log(AllocatorAction action, std::uint64_t address, std::int64_t bytes, std::int64_t stream, StackId stack,
           std::size_t alloc = 0) {
    entries_.push_back({action, address, bytes, stream, stack, live_bytes_, reserved_bytes_, alloc});
  }

  std::int64_t random_size() {
    switch (pick(5)) {
      case 0:
        return 1 + static_cast<std::int64_t>(pick(2'000));
      case 1:
        return 1 + static_cast<std::int64_t>(pick(kMiB));
      case 2:
        return kMiB + static_cast<std::int64_t>(pick(9 * kMiB));
      case 3:
        return 1 + static_cast<std::int64_t>(pick(60 * kMiB));
      default:
        return static_cast<std::int64_t>(1 + pick(64)) * kMiB / 2;  // sizes that come again
    }
  }

  void allocate() {
    const std::int64_t requested = random_size();
    const std::int64_t bytes = (requested + 511) / 512 * 512;
    const auto stream = static_cast<std::int64_t>(pick(static_cast<std::uint64_t>(options_.streams)));
    const auto stack = static_cast<StackId>(1 + pick(options_.stacks));
    const bool is_large = bytes > kMiB;
    auto [region, address] = best_fit(bytes, stream, is_large);
    if (region == nullptr) std::tie(region, address) = take_from_driver(bytes, stream, is_large, stack);
    Block& block = region->blocks[address];
    const std::int64_t rest = block.bytes - bytes;
    const bool splits = is_large && !region->is_expandable ? rest > kMiB : rest >= 512;
    if (splits) {
      region->blocks[address + static_cast<std::uint64_t>(bytes)].bytes = rest;
      block.bytes = bytes;
    }
    block.requested = requested;
    block.stack = stack;
    block.is_live = true;
    block.alloc = entries_.size();
    live_bytes_ += requested;
    log(AllocatorAction::alloc, address, requested, stream, stack);
    live_.push_back(address);
  }

  std::pair<Region*, std::uint64_t> best_fit(std::int64_t bytes, std::int64_t stream, bool is_large) {
    std::pair<Region*, std::uint64_t> best{nullptr, 0};
    std::int64_t smallest = 0;
    for (Region& region : regions_) {
      if (region.stream != stream || region.is_large != is_large) continue;
      for (const auto& [address, block] : region.blocks) {
        if (block.is_active() || block.bytes < bytes || (best.first != nullptr && block.bytes >= smallest)) continue;
        best = {&region, address};
        smallest = block.bytes;
      }
    }
    return best;
  }

  std::pair<Region*, std::uint64_t> take_from_driver(std::int64_t bytes, std::int64_t stream, bool is_large,
                                                     StackId stack) {
    if (options_.is_expandable) return map_pages(bytes, stream, is_large, stack);
    std::int64_t size = 2 * kMiB;
    if (is_large) size = bytes < 10 * kMiB ? 20 * kMiB : (bytes + 2 * kMiB - 1) / (2 * kMiB) * (2 * kMiB);
    regions_.push_back({next_base_, stream, is_large, false, {}});
    // Often right behind the one before: segments that touch must not be taken for one.
    next_base_ += static_cast<std::uint64_t>(size) + (pick(2) == 0 ? 0 : 64 * kMiB);
    Region& region = regions_.back();
    region.blocks[region.base].bytes = size;
    reserved_bytes_ += size;
    log(AllocatorAction::segment_alloc, region.base, size, stream, stack);
    return {&region, region.base};
  }

  std::pair<Region*, std::uint64_t> map_pages(std::int64_t bytes, std::int64_t stream, bool is_large, StackId stack) {
    Region* region = nullptr;
    for (Region& each : regions_) {
      if (each.stream == stream && each.is_large == is_large) region = &each;
    }
    if (region == nullptr) {
      regions_.push_back({next_base_, stream, is_large, true, {}});
      next_base_ += std::uint64_t{1} << 40;
      region = &regions_.back();
    }
    const std::uint64_t end = region->blocks.empty() ? region->base : end_of(*region->blocks.rbegin());
    std::uint64_t address = end;
    if (!region->blocks.empty() && !region->blocks.rbegin()->second.is_active())
      address = region->blocks.rbegin()->first;
    const std::int64_t missing = bytes - static_cast<std::int64_t>(end - address);
    const std::int64_t mapped = (missing + page(*region) - 1) / page(*region) * page(*region);
    region->blocks[address].bytes += mapped;
    reserved_bytes_ += mapped;
    log(AllocatorAction::segment_map, end, mapped, stream, stack);
    return {region, address};
  }

  Region& region_of(std::uint64_t address) {
    return *std::find_if(regions_.begin(), regions_.end(),
                         [&](const Region& region) { return region.blocks.contains(address); });
  }

  void free_one() {
    const std::size_t which = pick(live_.size());
    const std::uint64_t address = live_[which];
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(which));
    Region& region = region_of(address);
    Block& block = region.blocks[address];
    block.is_live = false;
    block.is_pending = true;
    log(AllocatorAction::free_requested, address, block.requested, region.stream, block.stack);
    pending_.push_back(address);
    if (pick(8) != 0) complete(address);
  }

  void complete_frees(bool all) {
    if (!all) return;
    while (!pending_.empty()) complete(pending_.front());
  }

  void complete(std::uint64_t address) {
    pending_.erase(std::find(pending_.begin(), pending_.end(), address));
    Region& region = region_of(address);
    const auto at = region.blocks.find(address);
    live_bytes_ -= at->second.requested;
    log(AllocatorAction::free_completed, address, at->second.requested, region.stream, at->second.stack,
        at->second.alloc);
    Block rest;
    rest.bytes = at->second.bytes;
    std::uint64_t begin = address;
    const auto next = std::next(at);
    if (next != region.blocks.end() && next->first == end_of(*at) && !next->second.is_active()) {
      rest.bytes += next->second.bytes;
      region.blocks.erase(next);
    }
    if (at != region.blocks.begin()) {
      const auto before = std::prev(at);
      if (end_of(*before) == address && !before->second.is_active()) {
        begin = before->first;
        rest.bytes += before->second.bytes;
        region.blocks.erase(before);
      }
    }
    region.blocks.erase(address);
    region.blocks[begin] = rest;
  }

  void empty_cache() {
    complete_frees(true);
    for (std::size_t i = 0; i < regions_.size();) {
      Region& region = regions_[i];
      if (region.is_expandable) {
        unmap(region);
        ++i;
      } else if (region.blocks.size() == 1 && !region.blocks.begin()->second.is_active()) {
        const std::int64_t bytes = region.blocks.begin()->second.bytes;
        reserved_bytes_ -= bytes;
        log(AllocatorAction::segment_free, region.base, bytes, region.stream, 0);
        regions_.erase(regions_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
  }

  void unmap(Region& region) {
    const auto size = static_cast<std::uint64_t>(page(region));
    const Blocks before = region.blocks;
    for (const auto& each : before) {
      if (each.second.is_active()) continue;
      const std::uint64_t first = region.base + (each.first - region.base + size - 1) / size * size;
      const std::uint64_t last = region.base + (end_of(each) - region.base) / size * size;
      if (last <= first) continue;
      region.blocks.erase(each.first);
      if (first > each.first) region.blocks[each.first].bytes = static_cast<std::int64_t>(first - each.first);
      if (end_of(each) > last) region.blocks[last].bytes = static_cast<std::int64_t>(end_of(each) - last);
      const auto bytes = static_cast<std::int64_t>(last - first);
      reserved_bytes_ -= bytes;
      log(AllocatorAction::segment_unmap, first, bytes, region.stream, 0);
    }
  }

  // Fails, after what PyTorch tries first.
  void out_of_memory() {
    empty_cache();
    books_.push_back(books());
    log(AllocatorAction::oom, kUnknownAddress, static_cast<std::int64_t>(1 + pick(std::uint64_t{1} << 34)) / 512 * 512,
        static_cast<std::int64_t>(pick(static_cast<std::uint64_t>(options_.streams))), 1);
  }

  static void add_segment(AllocatorDevice& device, const Region& region, std::uint64_t begin, std::uint64_t end) {
    vramscope::Segment segment;
    segment.address = begin;
    segment.total_bytes = static_cast<std::int64_t>(end - begin);
    segment.allocated_bytes = segment.active_bytes = segment.requested_bytes = 0;
    segment.stream = region.stream;
    segment.type = region.is_large ? SegmentPool::large : SegmentPool::small;
    segment.is_expandable = region.is_expandable;
    segment.first_block = static_cast<std::uint32_t>(device.blocks.size());
    for (auto at = region.blocks.lower_bound(begin); at != region.blocks.end() && at->first < end; ++at) {
      const Block& own = at->second;
      vramscope::Block block;
      block.address = at->first;
      block.bytes = own.bytes;
      block.requested_bytes = own.is_active() ? own.requested : 12'345;  // of a free block it means nothing
      block.stack = own.stack;
      block.state = BlockState::free;
      if (own.is_live) block.state = BlockState::allocated;
      if (own.is_pending) block.state = BlockState::pending_free;
      if (own.is_live) segment.allocated_bytes += own.bytes;
      if (own.is_active()) segment.active_bytes += own.bytes;
      if (own.is_active()) segment.requested_bytes += own.requested;
      device.blocks.push_back(block);
    }
    segment.last_block = static_cast<std::uint32_t>(device.blocks.size());
    device.segments.push_back(segment);
  }

  std::mt19937_64 random_;
  const Options options_;
  std::vector<Region> regions_;
  std::vector<std::uint64_t> live_;     // addresses
  std::vector<std::uint64_t> pending_;  // free requested, not completed
  std::vector<Entry> entries_;
  std::vector<Books> books_;
  std::int64_t live_bytes_ = 0;
  std::int64_t reserved_bytes_ = 0;
  std::uint64_t next_base_ = std::uint64_t{0x7f00} << 32;
};

}  // namespace vramscope
