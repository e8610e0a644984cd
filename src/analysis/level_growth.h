#pragma once
// Does a series of levels rise for good? The questions that are asked of the levels of steps (analysis/growth.h) and of
// samples in a log alike.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/allocator_stats.h"
#include "model/source.h"

namespace vramscope {

struct LevelGrowth {
  bool is_steady = false;            // rises in nearly every step, does not fall back, does not slow down
  std::size_t first = 0;             // the first judged level: those before it are warm-up
  std::int64_t bytes_per_level = 0;  // robust slope
  std::int64_t growth_bytes = 0;     // from level[first - 1] to the last
  std::int64_t highest_bytes = 0;
  double growing_share = 0;  // of the judged levels, how many are higher than the one before
  double regularity = 0;     // 1 = the same growth each time, 0 = no pattern
};

// The fewest levels: one to warm up and three that rise. Fewer are never steady.
inline constexpr std::size_t kFewestLevels = 4;

// `resolution_bytes`: a difference of less is no rise.
LevelGrowth judge_levels(const std::vector<std::int64_t>& level, std::int64_t resolution_bytes);

// The samples of one device in a log that tell what is allocated.
struct SampleSeries {
  std::int32_t device = 0;
  std::vector<const AllocatorStats*> samples;  // in file order; of several with the same step the last
  std::vector<std::int64_t> allocated_bytes;
  std::int64_t resolution_bytes = 1;
  bool has_steps = false;            // every sample has one, and they rise
  bool has_times = false;            // likewise
  std::int64_t steps_between = 0;    // median distance; 0 without steps
  std::int64_t time_between_ns = 0;  // median distance; 0 without times
};
std::vector<SampleSeries> sample_series(const Source& source);

}  // namespace vramscope
