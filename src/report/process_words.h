#pragma once
// What is said of a process in a table.
#include <cstdint>
#include <optional>
#include <string>

#include "sampling/live_sample.h"

namespace vramscope {

// "running", "stuck", "not visible here"; tr("N/A") for unknown. `state`: the letter of /proc/PID/stat.
std::string state_word(Presence presence, std::optional<char> state);
enum class ProcessTrouble : std::uint8_t { none, halted, dead };
// halted: stuck in the kernel, or stopped; dead: a zombie.
ProcessTrouble state_trouble(std::optional<char> state);
// "12 s", "3 min 05 s", "5 d"; tr("N/A") for unknown.
std::string age_text(std::optional<std::int64_t> age_ns);

}  // namespace vramscope
