#pragma once
// What torch.cuda.memory_stats() or memory_summary() said at one moment, found in a log.
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace vramscope {

struct AllocatorStats {
  std::int32_t device = 0;
  std::int64_t offset = 0;              // byte in the file where the table or the dictionary begins
  std::int64_t line = 0;                // 1-based
  std::optional<std::int64_t> step;     // the number behind "step", "iter", "epoch" in the nearest lines before it
  std::optional<std::int64_t> time_ns;  // epoch, from a time stamp in the nearest lines before it
  // Bytes and counts under the names of memory_stats(): "allocated_bytes.all.current", "num_ooms", …
  std::map<std::string, std::int64_t> values;
  std::int64_t resolution_bytes = 1;  // tables round: the largest half-unit printed ("12345 KiB": 1024, "3 GiB": 2^30)
};

}  // namespace vramscope
