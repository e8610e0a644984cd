#pragma once
// The facts of an alert's event, from the sample and from what is remembered.
#include <string>

#include "model/alert.h"
#include "monitor/alert_reading.h"

namespace vramscope {

inline constexpr std::size_t kMostHolders = 5;
inline constexpr std::size_t kMostCurvePoints = 240;
inline constexpr std::int64_t kShortestCurveNs = 10LL * 60 * 1'000'000'000;

AlertProcess alert_process(const LiveSample& sample, const DeviceProcess& process);
// `process` may be null.
AlertSubject alert_subject(const std::string& host, const LiveSample& sample, std::size_t place,
                           const DeviceProcess* process);
// Memory of the device and what holds most of it.
void add_device_facts(AlertEvent& event, const LiveSample& sample, std::size_t place);
// The values from `since_ns` on; at least kShortestCurveNs where they are remembered. The lowest and highest of each
// stretch stay when there are too many.
void add_curve(AlertEvent& event, const SeriesHistory& values, AlertUnit unit, std::int64_t since_ns,
               const LiveSample& sample);

}  // namespace vramscope
