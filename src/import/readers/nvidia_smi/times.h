#pragma once
// Times as nvidia-smi, `date` and home-made scripts write them. Pure; any text is safe.
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/device_log.h"

namespace vramscope::nvidia_smi {

struct LogTime {
  std::int64_t ns = 0;  // unix; of time_of_day since midnight
  LogClock clock = LogClock::local;
  bool is_order_assumed = false;  // of "03-04-2026": month and day could be the other way round
};

// "2023/06/22 18:53:36.635", ISO 8601 with or without a zone, "03-11-2026 15:13:16" (month first unless that cannot
// be), "Fri Jan 27 11:32:31 2023", "Thu Dec 3 02:11:35 UTC 2026", seconds or milliseconds since 1970, "20230622
// 18:53:36", "18:53:36". The whole text must be the time.
std::optional<LogTime> parse_time(std::string_view text);

}  // namespace vramscope::nvidia_smi
