#pragma once
// Makes call stacks of lists of frames: equal ones are one node, shared callers are shared. Not thread-safe.
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/column.h"
#include "import/readers/cuda_snapshot/value.h"
#include "model/trace.h"

namespace vramscope::pickle {

class StackMaker {
 public:
  explicit StackMaker(Stacks& stacks) : stacks_(stacks) {}
  // Values with Tag::frame, the innermost first; nothing when there are others among them. 0 for an empty list.
  std::optional<StackId> stack(const Value* frames, std::size_t count);

 private:
  struct Known {
    std::uint64_t check = 0;  // the second half of the hash
    StackId stack = 0;
  };
  StackId child(StackId parent, StringId frame);
  void grow();

  Stacks& stacks_;
  absl::flat_hash_map<std::uint64_t, Known> known_;  // by the first half of a hash of the whole list
  // Open addressing by parent and frame, at most half full; 0 is free. The keys are the nodes themselves, so that the
  // table of a million stacks fits into a cache.
  Column<StackId> children_;
  // The last new stack, the outermost frame first: the next one shares its callers, mostly.
  std::vector<StringId> last_frames_;
  std::vector<StackId> last_nodes_;
};

}  // namespace vramscope::pickle
