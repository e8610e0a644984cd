#pragma once
// Words of exported memory timelines. Source: torch/profiler/_memory_profiler.py of torch 2.0 to 2.9.
#include <array>
#include <cstdint>
#include <string_view>

namespace vramscope::memory_timeline {

// By the number in the file, which is also the order of the columns of sizes.
inline constexpr std::array<std::string_view, 8> kCategories = {
    "parameter", "optimizer_state", "input", "temporary", "activation", "gradient", "autograd_detail", "unknown"};

// Each row of sizes begins with a 0, which the exporter stacks the others on.
inline constexpr std::size_t kColumns = kCategories.size() + 1;

// What an entry of the raw form says: 1 there before, 2 made, 3 one half of a new version (taken from the old category,
// or given to the new one), 4 destroyed. The bytes have the sign of the change in all of them.
inline constexpr std::int64_t kFirstAction = 1;
inline constexpr std::int64_t kLastAction = 4;

// Raw times are nanoseconds since 1970, times beside sizes are microseconds; -1 stands for "before the recording".
inline constexpr std::int64_t kBefore = -1;

inline constexpr std::string_view kPageTitle = "<title>GPU Memory Timeline HTML</title>";

}  // namespace vramscope::memory_timeline
