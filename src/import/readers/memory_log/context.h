#pragma once
// What stands near a figure in a log: who wrote it, the step, the time. Pure; any text is safe.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vramscope::memory_log {

// Which writer a line is from, by what stands in front of its content: a rank, a container's name. Dates and times
// are left out, so that it is the same for all lines of one writer.
std::string writer_of(std::string_view prefix);

// "2024-05-01 12:34:56,789", with "/" or "T", a fraction of a second, "Z" or "+02:00"; the first in the text. Without a
// zone it is taken as UTC.
std::optional<std::int64_t> time_in(std::string_view line);

struct Step {
  std::int64_t number = 0;
  std::size_t at = 0;  // in the text it was looked for
};
// The number behind "step", "iteration", "iter", "batch" or "epoch" in the nearest of the last few lines that has one;
// lines of tables do not count. The first of these words that a line has.
std::optional<Step> step_before(std::string_view text);
// The time in the nearest of the last few lines that has one.
std::optional<std::int64_t> time_before(std::string_view text);

}  // namespace vramscope::memory_log
