#pragma once
// Segments and blocks of a snapshot.
#include <map>

#include "absl/container/flat_hash_set.h"
#include "import/readers/cuda_snapshot/recorder.h"

namespace vramscope::pickle {

// Devices by index, the host under -1.
class Devices {
 public:
  static constexpr std::size_t kMost = 4096;
  // nullptr when there are too many or the index is none.
  AllocatorDevice* at(std::int64_t index);
  // By index, the host last. Spent afterwards.
  std::vector<AllocatorDevice> take();

 private:
  std::map<std::int32_t, AllocatorDevice> devices_;
};

class SegmentReader {
 public:
  SegmentReader(Store& store, Recorder& recorder, Devices& devices, std::int64_t offset)
      : store_(store), recorder_(recorder), devices_(devices), offset_(offset) {}
  // A list of dictionaries; each list of blocks is taken once, wherever else it is used.
  void read(Value list, bool is_host);

 private:
  void read_segment(const Items& pairs, bool is_host);
  void read_blocks(Value list, Segment& segment, AllocatorDevice& device);
  Block read_block(const Items& pairs, std::uint64_t next_address);

  Store& store_;
  Recorder& recorder_;
  Devices& devices_;
  std::int64_t offset_;
  absl::flat_hash_set<std::uint64_t> seen_;  // lists of blocks
};

// Segments by address and their blocks in the same order.
void sort_segments(AllocatorDevice& device);

}  // namespace vramscope::pickle
