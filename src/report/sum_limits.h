#pragma once
// Sums that stopped at the ends of int64, told as trouble of their source.
#include <cstdint>
#include <vector>

#include "model/source.h"
#include "report/memory.h"
#include "report/ops_report.h"

namespace vramscope {

inline constexpr const char* kSumOutOfRange = "sum_out_of_range";

// How many figures of the report are such sums.
std::int64_t clamped_sums(const OpsResult& result);
std::int64_t clamped_sums(const Source& source, const DeviceFilter& filter);
// Adds them to the source's trouble; nothing for 0.
void note_clamped_sums(Source& source, std::int64_t count);

}  // namespace vramscope
