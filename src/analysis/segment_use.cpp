#include "analysis/segment_use.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/allocator_sizes.h"
#include "analysis/memory_sums.h"

namespace vramscope {

namespace {

std::int64_t at_least_zero(std::int64_t bytes) {
  return bytes < 0 ? 0 : bytes;
}

void add(ByPool& sums, SegmentPool pool, std::int64_t value) {
  sums.all = add_bytes(sums.all, value);
  if (pool == SegmentPool::large) sums.large = add_bytes(sums.large, value);
  if (pool == SegmentPool::small) sums.small = add_bytes(sums.small, value);
}

// A request of this size may look for a block in this pool.
bool serves(SegmentPool pool, std::int64_t request) {
  if (pool == SegmentPool::unknown) return true;
  return (request > kLargestSmallRequest) == (pool == SegmentPool::large);
}

// Pages that lie wholly inside a free block: the allocator unmaps those of expandable segments
// (c10/cuda/CUDACachingAllocator.cpp, release_blocks and unmap_block). Pages are counted from the mapped range's begin.
std::int64_t whole_pages_bytes(const Segment& segment, const Block& block) {
  if (!segment.is_expandable || segment.address == kUnknownAddress || block.address == kUnknownAddress) return 0;
  if (block.address < segment.address || block.bytes <= 0) return 0;
  const std::uint64_t page =
      static_cast<std::uint64_t>(segment.type == SegmentPool::small ? kSmallSegmentBytes : kLargePageBytes);
  const std::uint64_t begin = block.address - segment.address;
  const std::uint64_t end = begin + static_cast<std::uint64_t>(block.bytes);
  if (end < begin) return 0;
  const std::uint64_t first = begin / page + (begin % page != 0 ? 1 : 0);
  return first < end / page ? static_cast<std::int64_t>((end / page - first) * page) : 0;
}

class Meter {
 public:
  explicit Meter(const AllocatorDevice& device)
      : device_(device), pool_(main_pool(device)), stream_(main_stream(device)) {
    for (std::int64_t size = kRoundingBytes; size > 0 && size <= kLargestSum / 2; size *= 2) {
      classes_.push_back({size, 0, 0, 0, 0, 0});
    }
    classes_.push_back({kLargestSum, 0, 0, 0, 0, 0});
  }

  SegmentUse run() {
    for (const Segment& segment : device_.segments) add_segment(segment);
    if (has_requests_) use_.rounding_bytes = rounding_bytes_;
    const double reserved = static_cast<double>(use_.reserved_bytes.all);
    if (reserved > 0 && squared_gaps_ > 0) use_.torch_fragmentation = squared_gaps_ / (reserved * reserved);
    for (auto& [key, each] : streams_) use_.by_stream.push_back(each);
    std::stable_sort(use_.by_stream.begin(), use_.by_stream.end(),
                     [](const SegmentUse::StreamUse& a, const SegmentUse::StreamUse& b) {
                       return a.reserved_bytes > b.reserved_bytes;
                     });
    for (const SizeClass& each : classes_) {
      if (each.free_blocks + each.active_blocks > 0) use_.size_classes.push_back(each);
    }
    return std::move(use_);
  }

 private:
  void add_segment(const Segment& segment) {
    const std::int64_t total = at_least_zero(segment.total_bytes);
    add(use_.reserved_bytes, segment.type, total);
    add(use_.segments, segment.type, 1);
    if (!segment.is_expandable) add(use_.fixed_segments, segment.type, 1);
    const auto [slot, is_new] = streams_.try_emplace({segment.stream, segment.pool});
    stream_use_ = &slot->second;
    stream_use_->stream = segment.stream;
    stream_use_->pool = segment.pool;
    stream_use_->reserved_bytes = add_bytes(stream_use_->reserved_bytes, total);
    std::int64_t active = 0;
    std::int64_t gap = 0;
    std::int64_t pages = 0;
    const std::size_t end = std::min<std::size_t>(segment.last_block, device_.blocks.size());
    for (std::size_t i = segment.first_block; i < end; ++i) {
      const Block& block = device_.blocks[i];
      ++use_.blocks;
      if (is_active(block.state)) {
        add_active(segment, block);
        active = add_bytes(active, at_least_zero(block.bytes));
        add_gap(gap);
        gap = 0;
      } else {
        gap = add_bytes(gap, at_least_zero(block.bytes));
        if (block.state == BlockState::free) {
          add_free(segment, block);
          pages = add_bytes(pages, whole_pages_bytes(segment, block));
        }
      }
    }
    add_gap(gap);
    stream_use_->active_bytes = add_bytes(stream_use_->active_bytes, active);
    add_unused(at_least_zero(subtract_bytes(total, active)), active > 0);
    if (active > 0) use_.free_pages_bytes = add_bytes(use_.free_pages_bytes, pages);
  }

  void add_unused(std::int64_t bytes, bool is_used) {
    use_.free_bytes = add_bytes(use_.free_bytes, bytes);
    stream_use_->free_bytes = add_bytes(stream_use_->free_bytes, bytes);
    std::int64_t& part = is_used ? use_.free_in_used_segments_bytes : use_.free_segments_bytes;
    part = add_bytes(part, bytes);
    if (!is_used && bytes > 0) ++use_.free_segments;
  }

  void add_gap(std::int64_t bytes) { squared_gaps_ += static_cast<double>(bytes) * static_cast<double>(bytes); }

  void add_active(const Segment& segment, const Block& block) {
    const std::int64_t bytes = at_least_zero(block.bytes);
    add(use_.active_bytes, segment.type, bytes);
    add(use_.active_blocks, segment.type, 1);
    if (block.state == BlockState::allocated) {
      add(use_.allocated_bytes, segment.type, bytes);
      add(use_.allocations, segment.type, 1);
    } else {
      use_.pending_free_bytes = add_bytes(use_.pending_free_bytes, bytes);
    }
    if (block.requested_bytes >= 0) {
      has_requests_ = true;
      add(use_.requested_bytes, segment.type, block.requested_bytes);
      rounding_bytes_ = add_bytes(rounding_bytes_, at_least_zero(subtract_bytes(bytes, block.requested_bytes)));
    }
    SizeClass& each = class_of(bytes);
    ++each.active_blocks;
    each.active_bytes = add_bytes(each.active_bytes, bytes);
  }

  void add_free(const Segment& segment, const Block& block) {
    const std::int64_t bytes = at_least_zero(block.bytes);
    use_.largest_free_block_bytes = std::max(use_.largest_free_block_bytes, bytes);
    stream_use_->largest_free_block_bytes = std::max(stream_use_->largest_free_block_bytes, bytes);
    // PyTorch counts the free pieces of split segments, and leaves expandable ones out.
    if (!segment.is_expandable && segment.last_block - segment.first_block > 1) {
      add(use_.inactive_split_bytes, segment.type, bytes);
      add(use_.inactive_splits, segment.type, 1);
    }
    SizeClass& own = class_of(bytes);
    ++own.free_blocks;
    own.free_bytes = add_bytes(own.free_bytes, bytes);
    if (segment.pool != pool_ || segment.stream != stream_) return;
    const bool is_small = segment.type == SegmentPool::small;
    use_.largest_request_bytes =
        std::max(use_.largest_request_bytes, is_small ? std::min(bytes, kLargestSmallRequest) : bytes);
    for (SizeClass& each : classes_) {
      if (each.request_bytes > bytes) break;
      if (serves(segment.type, each.request_bytes)) {
        each.could_be_met = add_bytes(each.could_be_met, bytes / each.request_bytes);
      }
    }
  }

  SizeClass& class_of(std::int64_t bytes) {
    return *std::lower_bound(classes_.begin(), classes_.end() - 1, bytes,
                             [](const SizeClass& each, std::int64_t size) { return each.request_bytes < size; });
  }

  const AllocatorDevice& device_;
  const StringId pool_;
  const std::int64_t stream_;
  SegmentUse use_;
  SegmentUse::StreamUse* stream_use_ = nullptr;
  std::map<std::pair<std::int64_t, StringId>, SegmentUse::StreamUse> streams_;
  std::vector<SizeClass> classes_;
  double squared_gaps_ = 0;
  std::int64_t rounding_bytes_ = 0;
  bool has_requests_ = false;
};

bool differs(std::int64_t told, std::int64_t summed) {
  return told != kUnknown && told != summed;
}

}  // namespace

SegmentUse measure_segments(const AllocatorDevice& device) {
  return Meter(device).run();
}

std::int64_t inconsistent_segments(const AllocatorDevice& device) {
  std::int64_t count = 0;
  for (const Segment& segment : device.segments) {
    std::int64_t total = 0;
    std::int64_t allocated = 0;
    std::int64_t active = 0;
    std::int64_t requested = 0;
    bool has_requests = true;
    const std::size_t end = std::min<std::size_t>(segment.last_block, device.blocks.size());
    for (std::size_t i = segment.first_block; i < end; ++i) {
      const Block& block = device.blocks[i];
      total = add_bytes(total, block.bytes);
      if (block.state == BlockState::allocated) allocated = add_bytes(allocated, block.bytes);
      if (!is_active(block.state)) continue;
      active = add_bytes(active, block.bytes);
      has_requests = has_requests && block.requested_bytes != kUnknown;
      requested = add_bytes(requested, at_least_zero(block.requested_bytes));
    }
    const bool is_odd = differs(segment.total_bytes, total) || differs(segment.allocated_bytes, allocated) ||
                        differs(segment.active_bytes, active) ||
                        (has_requests && differs(segment.requested_bytes, requested));
    if (is_odd) ++count;
  }
  return count;
}

}  // namespace vramscope
