#pragma once
// What the tables and dictionaries of a log tell about failures and pieces: the allocator's own counters.
#include <cstdint>
#include <optional>
#include <vector>

#include "model/source.h"

namespace vramscope {

// A counter that only rises; where it falls, a new process began to count.
struct Counter {
  std::optional<std::int64_t> last;  // in the last sample that has it; over several processes the highest of the last
  std::int64_t rise = 0;             // between the samples, and of new processes what they counted
};

// One device. Figures are those of the last sample in which a counter of failures or retries rose, else of the last.
struct TableFigures {
  std::int32_t device = 0;
  std::int64_t line = 0;  // of that sample
  Counter ooms;           // num_ooms
  Counter retries;        // num_alloc_retries
  std::optional<std::int64_t> allocated_bytes;
  std::optional<std::int64_t> reserved_bytes;
  std::optional<std::int64_t> pieces_bytes;  // free beside live blocks: "Non-releasable memory", inactive_split_bytes
};
std::vector<TableFigures> table_figures(const Source& source);

// Whether free memory beside live blocks is a fifth of what is reserved, and 256 MiB.
bool is_in_pieces(const TableFigures& figures);

}  // namespace vramscope
