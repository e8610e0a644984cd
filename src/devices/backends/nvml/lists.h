#pragma once
// Lists that a device has besides its metrics. Each function returns the driver's code.
#include "devices/backends/nvml/device.h"

namespace vramscope::nvml {

int read_supported_clocks(const Functions& call, Handle device, std::vector<SupportedClocks>& out);
int read_retired_pages(const Functions& call, Handle device, RetirementCause cause, std::vector<std::uint64_t>& out);
int read_recent(const Functions& call, Handle device, RecentKind kind, RecentSamples& out);

}  // namespace vramscope::nvml
