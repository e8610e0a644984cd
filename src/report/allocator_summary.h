#pragma once
// What torch.cuda.memory_stats() says, as far as a snapshot can tell, and the table of torch.cuda.memory_summary().
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "report/snapshot_facts.h"

namespace vramscope {

// One row: of one quantity in one pool. Empty where the snapshot cannot tell.
struct SummaryCells {
  std::optional<std::int64_t> current;
  std::optional<std::int64_t> peak;
  std::optional<std::int64_t> allocated;
  std::optional<std::int64_t> freed;
};

struct SummaryRow {
  const char* key = "";    // of memory_stats(): "allocated_bytes", …
  const char* title = "";  // of memory_summary(), never translated
  bool is_bytes = false;
  SummaryCells all, large, small;
};

struct AllocatorSummary {
  std::int32_t device = 0;
  std::optional<std::int64_t> ooms;
  std::optional<std::int64_t> retries;
  std::vector<SummaryRow> rows;  // in the order of memory_summary()
  SummaryCells oversize_allocations, oversize_segments;
};

// Peaks and sums come from the log, and only when the log begins before the first segment was taken.
AllocatorSummary summarise(const SnapshotDevice& facts, const MemoryState& state);

// Columns that the table needs.
inline constexpr std::size_t kSummaryColumns = 77;
// PyTorch's table, unindented. Abbreviated: without the rows of the two pools.
std::string summary_table(const AllocatorSummary& summary, bool is_abbreviated);

// Every known figure under its name in memory_stats(): "reserved_bytes.all.current".
std::vector<std::pair<std::string, std::int64_t>> summary_values(const AllocatorSummary& summary);

}  // namespace vramscope
