#pragma once
// Looks at devices for a while and keeps what was seen, for `vramscope diagnose` without a file.
#include <cstdint>

#include "base/result.h"
#include "cli/live.h"
#include "model/source.h"

namespace vramscope {

// Of a scenario, which need not be waited for, the rules see what takes its time to show.
inline constexpr std::int64_t kLookNs = 60'000'000'000;
inline constexpr std::int64_t kScenarioLookNs = 1'800'000'000'000;

// Samples for `look_ns` of the devices' own time, with progress on a terminal. SIGINT and SIGTERM end the look early.
// Errors: those of opening the devices, and where no GPU tells anything to this user.
Result<Source> look_at_devices(const LiveOptions& options, std::int64_t look_ns);

}  // namespace vramscope
