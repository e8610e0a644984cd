#pragma once
// Values as nvidia-smi writes them in all its layouts, read back. Pure; any text is safe.
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/metric.h"

namespace vramscope::nvidia_smi {

struct Cell {
  ValueState state = ValueState::not_asked;  // not_asked: the text is no value of the metric
  std::int64_t number = 0;                   // in the metric's unit when known; an error code when failed
  std::string_view text;                     // of a text metric when known
};

// "211 MiB", "39.17 W", "P8", "0x1E8110DE", "Enabled", "[N/A]", "[Unknown Error]", "ERR!" …
// `unit`: the unit that the column's header promises, for cells without one; empty: nvidia-smi's own.
Cell parse_cell(const MetricInfo& info, std::string_view text, std::string_view unit = {});
// The state that the text stands for in place of a value: "[Not Supported]" and its kin.
std::optional<Cell> parse_marker(std::string_view text);
// A size with its unit: "2566 MiB", "4MiB", "11MB" (which counts by 1024 too); without one `unit` counts.
std::optional<std::int64_t> parse_bytes(std::string_view text, std::string_view unit = {});
// A whole number, with nothing else around it but blanks.
std::optional<std::int64_t> parse_whole(std::string_view text);

std::string_view trimmed(std::string_view text);
// What stands between blanks.
std::vector<std::string_view> words_of(std::string_view text);
// "GPU-…" of zeros stands for one that was made unreadable.
bool is_blank_uuid(std::string_view uuid);

}  // namespace vramscope::nvidia_smi
