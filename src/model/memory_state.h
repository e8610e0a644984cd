#pragma once
// What a caching allocator holds at one moment, and the log of what it did before: a CUDA memory snapshot.
//
// Source of names and states: c10/cuda/CUDACachingAllocator.h (SegmentInfo, BlockInfo, TraceEntry) and
// torch/cuda/memory.py of PyTorch 2.0 to 2.9; the files themselves. String and stack ids are those of the trace of the
// same Source (Source::trace.strings, .stacks). Sizes are bytes, times int64 nanoseconds; kUnknown where the file is
// silent. Plain data, filled by a reader and read-only afterwards.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/column.h"
#include "model/trace.h"

namespace vramscope {

enum class BlockState : std::uint8_t {
  allocated,     // "active_allocated"
  pending_free,  // "active_pending_free", "active_awaiting_free": freed by the program, another stream still uses it
  free,          // "inactive"
  unknown,
};
// Not available to a new request.
constexpr bool is_active(BlockState state) {
  return state == BlockState::allocated || state == BlockState::pending_free;
}

struct Block {
  std::uint64_t address = kUnknownAddress;  // from the segment's address where the file has none of its own
  std::int64_t bytes = 0;                   // rounded, as the allocator keeps it
  std::int64_t requested_bytes =
      kUnknown;  // what the program asked for; of a free block the last one, so without sense
  StackId stack = 0;
  BlockState state = BlockState::unknown;
};

enum class SegmentPool : std::uint8_t { small, large, unknown };  // "segment_type"

// Memory that the allocator got from the driver in one piece (of an expandable segment: one mapped range).
struct Segment {
  std::uint64_t address = kUnknownAddress;
  std::int64_t total_bytes = 0;
  std::int64_t allocated_bytes = kUnknown;  // the file's own sums
  std::int64_t active_bytes = kUnknown;
  std::int64_t requested_bytes = kUnknown;
  std::int64_t stream = 0;
  StringId pool = 0;  // "segment_pool_id" as "(0, 0)": the default pool, others belong to CUDA graphs or MemPool
  StackId stack = 0;
  std::uint32_t first_block = 0;  // AllocatorDevice::blocks[first_block, last_block), by address
  std::uint32_t last_block = 0;
  SegmentPool type = SegmentPool::unknown;
  bool is_expandable = false;
};

enum class AllocatorAction : std::uint8_t {
  alloc,
  free_requested,
  free_completed,  // also "free"
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
  snapshot,
  oom,
  other,  // keeps its name in AllocatorNote::action
};

// What few entries carry. Equal notes are stored once.
struct AllocatorNote {
  StringId action = 0;           // of AllocatorAction::other
  StringId user_metadata = 0;    // 0 for "" as for absent
  StringId compile_context = 0;  // 0 for "N/A"
  StringId category = 0;
  StringId pool = 0;
  std::int64_t device_free_bytes = kUnknown;  // of an oom entry: what the driver had left
  bool operator==(const AllocatorNote&) const = default;
};

// In file order, which is the order in which things happened.
struct AllocatorLog {
  Column<AllocatorAction> action;
  Column<std::int64_t> time_ns;   // epoch; kUnknown where the file has no time_us (torch 2.1)
  Column<std::uint64_t> address;  // kUnknownAddress where absent (oom)
  Column<std::int64_t> bytes;     // as asked for, not rounded; of a segment entry the segment's; of oom what was asked
  Column<std::int64_t> stream;
  Column<StackId> stack;
  Column<std::uint32_t> note;  // index into MemoryState::notes, or kNone
  std::size_t size() const { return action.size(); }
};

// One device of a snapshot.
struct AllocatorDevice {
  std::int32_t index = -1;        // CUDA's; -1 for pinned host memory ("host_segments", "host_traces")
  std::vector<Segment> segments;  // by address
  std::vector<Block> blocks;
  AllocatorLog log;
  std::string name() const { return index < 0 ? "host" : "cuda:" + std::to_string(index); }
};

// A range that a profiler hook marked ("external_annotations").
struct AllocatorAnnotation {
  std::int64_t time_ns = kUnknown;
  StringId name = 0;
  std::int32_t device = -1;
  bool is_begin = false;
};

struct MemoryState {
  std::vector<AllocatorDevice>
      devices;  // those that hold a segment or a log entry, or were listed; by index, host last
  std::vector<AllocatorNote> notes;
  std::vector<AllocatorAnnotation> annotations;
  // "allocator_settings" as text: "expandable_segments" -> "True", "max_split_size" -> "-1", nested dictionaries as
  // "roundup_power2_divisions.1024" -> "0". Empty where the file has none.
  std::map<std::string, std::string> settings;
};

}  // namespace vramscope
