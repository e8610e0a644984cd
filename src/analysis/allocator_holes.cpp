#include <algorithm>
#include <iterator>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "analysis/allocator_replay.h"
#include "analysis/allocator_sizes.h"
#include "analysis/memory_sums.h"

namespace vramscope {

namespace {

std::uint64_t range_end(std::uint64_t begin, std::int64_t bytes) {
  const std::uint64_t size = bytes < 0 ? 0 : static_cast<std::uint64_t>(bytes);
  return size > kUnknownAddress - begin ? kUnknownAddress : begin + size;
}

std::int64_t range_bytes(std::uint64_t begin, std::uint64_t end) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(end - begin, static_cast<std::uint64_t>(kLargestSum)));
}

// Memory that the allocator has from the driver, of one stream.
struct Range {
  std::uint64_t end = 0;
  bool is_expandable = false;
  bool is_wanted = false;  // of the pool that was asked for
  bool operator==(const Range&) const = default;
};

// Ranges by their first address; they never overlap.
class Ranges {
 public:
  void add(std::uint64_t begin, Range range) {
    remove(begin, range.end);
    if (range.end > begin) ranges_[begin] = range;
  }
  void remove(std::uint64_t begin, std::uint64_t end) {
    if (end <= begin) return;
    auto at = ranges_.lower_bound(begin);
    if (at != ranges_.begin() && std::prev(at)->second.end > begin) --at;
    while (at != ranges_.end() && at->first < end) {
      const std::uint64_t first = at->first;
      const Range range = at->second;
      at = ranges_.erase(at);
      if (first < begin) ranges_[first] = {begin, range.is_expandable, range.is_wanted};
      if (range.end > end) at = ranges_.emplace(end, range).first;
    }
  }
  // Pages of one expandable segment that were mapped one after the other are one piece of memory.
  void join() {
    for (auto at = ranges_.begin(); at != ranges_.end();) {
      const auto next = std::next(at);
      if (next == ranges_.end()) return;
      const bool is_same = at->second.is_expandable && next->second.is_expandable &&
                           at->second.is_wanted == next->second.is_wanted && at->second.end == next->first;
      if (!is_same) {
        at = next;
        continue;
      }
      at->second.end = next->second.end;
      ranges_.erase(next);
    }
  }
  const std::map<std::uint64_t, Range>& all() const { return ranges_; }

 private:
  std::map<std::uint64_t, Range> ranges_;
};

struct Piece {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class HoleFinder {
 public:
  HoleFinder(const AllocatorDevice& device, const Replay& replay, std::int64_t stream, bool large_pool)
      : device_(device), log_(device.log), replay_(replay), stream_(stream), large_pool_(large_pool) {}

  std::optional<Holes> find(std::size_t count) {
    if (device_.segments.empty() && replay_.device_allocs + replay_.device_frees == 0) return std::nullopt;
    rewind(count);
    const std::vector<Piece> pieces = live_pieces(count);
    auto piece = pieces.begin();
    for (const auto& [begin, range] : ranges_.all()) {
      if (piece != pieces.end() && piece->begin < begin) return std::nullopt;  // it lies in no range
      const auto first = piece;
      while (piece != pieces.end() && piece->begin < range.end) ++piece;
      if (range.is_wanted) add_range(begin, range, first, piece);
    }
    if (piece != pieces.end()) return std::nullopt;
    return holes_;
  }

 private:
  void rewind(std::size_t count) {
    const StringId pool = main_pool(device_);
    for (const Segment& segment : device_.segments) {
      if (segment.stream != stream_ || segment.address == kUnknownAddress) continue;
      const bool is_large = segment.type == SegmentPool::large ||
                            (segment.type == SegmentPool::unknown && is_large_segment(segment.total_bytes));
      const bool is_wanted = segment.pool == pool && is_large == large_pool_;
      ranges_.add(segment.address, {range_end(segment.address, segment.total_bytes), segment.is_expandable, is_wanted});
    }
    note_maps();
    for (std::size_t i = log_.size(); i-- > count;) {
      if (log_.stream[i] != stream_ || log_.address[i] == kUnknownAddress) continue;
      const std::uint64_t begin = log_.address[i];
      const std::uint64_t end = range_end(begin, log_.bytes[i]);
      switch (log_.action[i]) {
        case AllocatorAction::segment_alloc:
        case AllocatorAction::segment_map:
          ranges_.remove(begin, end);
          break;
        case AllocatorAction::segment_free:
          ranges_.add(begin, {end, false, is_large_segment(log_.bytes[i]) == large_pool_});
          break;
        case AllocatorAction::segment_unmap:
          ranges_.add(begin, {end, true, is_large_map(begin, log_.bytes[i]) == large_pool_});
          break;
        default:
          break;
      }
    }
    ranges_.join();
  }

  // The two pools map pages of different sizes, but give neighbouring ones back in one piece, whose size tells nothing.
  void note_maps() {
    for (std::size_t i = 0; i < log_.size(); ++i) {
      if (log_.action[i] != AllocatorAction::segment_map || log_.stream[i] != stream_) continue;
      maps_[log_.address[i]] = log_.bytes[i] >= kLargePageBytes;
    }
  }
  bool is_large_map(std::uint64_t address, std::int64_t bytes) const {
    const auto found = maps_.find(address);
    if (found != maps_.end()) return found->second;
    return bytes >= kLargePageBytes && bytes % kLargePageBytes == 0;
  }

  std::vector<Piece> live_pieces(std::size_t count) const {
    std::vector<Piece> pieces;
    for (const Allocation& allocation : replay_.allocations) {
      if (allocation.stream != stream_ || allocation.address == kUnknownAddress) continue;
      if (!allocation.is_live_after(count)) continue;
      pieces.push_back({allocation.address, range_end(allocation.address, rounded_bytes(device_, allocation))});
    }
    std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
    return pieces;
  }

  void add_range(std::uint64_t begin, const Range& range, std::vector<Piece>::const_iterator first,
                 std::vector<Piece>::const_iterator last) {
    if (first == last) {
      add_hole(begin, range.end);
      holes_.whole_segment_bytes = add_bytes(holes_.whole_segment_bytes, range_bytes(begin, range.end));
      return;
    }
    // The large pool splits no rest of up to 1 MiB off: it belongs to the piece before it.
    const std::int64_t least = large_pool_ && !range.is_expandable ? kLargestSmallRequest + 1 : kRoundingBytes;
    std::uint64_t at = begin;
    for (auto piece = first; piece != last; ++piece) {
      if (piece->begin > at && (at == begin || range_bytes(at, piece->begin) >= least)) add_hole(at, piece->begin);
      at = std::max(at, std::min(piece->end, range.end));
    }
    if (at < range.end && range_bytes(at, range.end) >= least) add_hole(at, range.end);
  }

  void add_hole(std::uint64_t begin, std::uint64_t end) {
    const std::int64_t bytes = range_bytes(begin, end);
    if (bytes == 0) return;
    holes_.free_bytes = add_bytes(holes_.free_bytes, bytes);
    holes_.largest_bytes = std::max(holes_.largest_bytes, bytes);
    ++holes_.count;
  }

  const AllocatorDevice& device_;
  const AllocatorLog& log_;
  const Replay& replay_;
  const std::int64_t stream_;
  const bool large_pool_;
  Ranges ranges_;
  absl::flat_hash_map<std::uint64_t, bool> maps_;  // address of a mapping to whether it is the large pool's
  Holes holes_;
};

}  // namespace

std::optional<Holes> holes_after(const AllocatorDevice& device, const Replay& replay, std::size_t count,
                                 std::int64_t stream, bool large_pool) {
  return HoleFinder(device, replay, stream, large_pool).find(count);
}

}  // namespace vramscope
