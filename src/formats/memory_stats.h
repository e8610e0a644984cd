#pragma once
// Names of torch.cuda.memory_stats(), and the rows of torch.cuda.memory_summary() that show them.
// Source: torch/cuda/memory.py of torch 1.4 to 2.9.
#include <array>
#include <string_view>

namespace vramscope::memory_stats {

// Whether memory_stats() has such a key: "allocated_bytes.all.current", "num_ooms", …
bool is_key(std::string_view name);
// The keys of four parts, which no other program has: "allocated_bytes.all.current".
bool is_dotted_key(std::string_view name);

struct Row {
  std::string_view label;  // as printed, without blanks around it
  std::string_view stem;   // of the keys: "allocated_bytes"
  bool is_bytes;
  bool has_pools;  // rows of the two pools may follow, and the stem is followed by ".all"
};
// The row with this label, or nullptr. All versions' names are known: "GPU reserved memory" is "Reserved memory" at
// times, rows of later versions ("Requested memory") are there too.
const Row* row_of(std::string_view label);

// Rows of the pools below a row with has_pools: "from large pool", "from small pool"; "" for another label.
std::string_view pool_of(std::string_view label);

// The columns: "Cur Usage", "Peak Usage", "Tot Alloc", "Tot Freed".
inline constexpr std::array<std::string_view, 4> kColumns = {"current", "peak", "allocated", "freed"};

}  // namespace vramscope::memory_stats
