#pragma once
// Numbers with units as alert rules write them: "90%", "20 GiB", "500ms".
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/alert.h"

namespace vramscope {

struct WrittenNumber {
  double number = 0;
  std::string_view unit;  // what follows the number, into the text
};

// A number at the beginning of the text; nothing when there is none, or it is too large to be meant.
std::optional<WrittenNumber> read_number(std::string_view text);
// The number in `unit` when `written` is one of its units. Decimal units (kB, MB, GB, TB) are powers of 1000. Without a
// written unit: empty where it could be misunderstood (bytes, milliwatts, times), but 0 is 0 of everything.
std::optional<double> in_unit(const WrittenNumber& written, AlertUnit unit);
// "B, KiB, MiB, …": what can be written for values of that unit; empty for none.
std::string written_units(AlertUnit unit);
// "500ms", "30s", "5m", "2h", "1d", with a unit always. Above 0 and at most ten years.
std::optional<std::int64_t> read_duration_ns(std::string_view text);

// The name that differs least from `word`; empty when none is near.
std::string closest_name(std::string_view word, const std::vector<std::string_view>& names);

}  // namespace vramscope
