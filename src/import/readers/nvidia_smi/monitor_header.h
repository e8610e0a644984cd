#pragma once
// The header of `nvidia-smi dmon` and `pmon`: "# gpu    pwr  gtemp …".
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::nvidia_smi {

// The names of the columns in lower case: "date", "time", "gpu", "pwr", …; nullopt when the line is no such header.
std::optional<std::vector<std::string>> parse_monitor_header(std::string_view line);
// "# Idx      W      C": the units below the names.
bool is_monitor_units(std::string_view line);

}  // namespace vramscope::nvidia_smi
