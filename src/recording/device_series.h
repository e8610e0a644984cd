#pragma once
// How samples of devices are named in a recording (docs/recording-format.md, "Samples of devices").
#include <string_view>

#include "model/metric.h"
#include "recording/records.h"

namespace vramscope {

// Names of series that are not of the metric table.
inline constexpr std::string_view kSeriesSmShare = "process.sm";
inline constexpr std::string_view kSeriesMemoryShare = "process.memory";
inline constexpr std::string_view kSeriesEncoderShare = "process.encoder";
inline constexpr std::string_view kSeriesDecoderShare = "process.decoder";
inline constexpr std::string_view kSeriesUsed = "memory.used";
inline constexpr std::string_view kSeriesAllocatorReserved = "allocator.reserved";    // bytes
inline constexpr std::string_view kSeriesAllocatorAllocated = "allocator.allocated";  // bytes
inline constexpr std::string_view kSeriesAllocatorActive = "allocator.active";        // bytes
inline constexpr std::string_view kSeriesCpu = "cpu";                                 // percent of a core
inline constexpr std::string_view kSeriesRss = "rss";                                 // bytes
inline constexpr std::string_view kSeriesState = "state";  // the letter's code; R stands for S and I too

inline ValueState state_of(recording::Validity validity) {
  switch (validity) {
    case recording::Validity::known:
      return ValueState::known;
    case recording::Validity::no_permission:
      return ValueState::no_permission;
    case recording::Validity::failed:
      return ValueState::failed;
    case recording::Validity::lost:
      return ValueState::lost;
    case recording::Validity::not_supported:
    case recording::Validity::missing:
      break;
  }
  return ValueState::not_supported;
}

}  // namespace vramscope
