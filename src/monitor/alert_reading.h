#pragma once
// What an alert rule sees in one sample: a reading for each device or process that it is about.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "monitor/alert_rule.h"
#include "monitor/monitor.h"
#include "sampling/live_sample.h"

namespace vramscope {

enum class AlertTruth : std::uint8_t {
  unknown,
  yes,   // the condition holds
  no,    // it does not, but not by a margin
  clear  // it does not, by 5 % of the threshold or more
};

struct AlertReading {
  std::string id;  // of the subject, within the rule
  AlertTruth truth = AlertTruth::unknown;
  bool is_supported = true;                              // false: this device has no such value
  std::optional<double> value;                           // in the rule's unit
  std::optional<std::int64_t> value_bytes, total_bytes;  // of a share of memory
  std::size_t device = 0;                                // place in the sample's list
  const DeviceProcess* process = nullptr;                // of process_memory
};

inline constexpr double kAlertMargin = 0.05;

// What a sample is looked at with.
struct AlertLook {
  const LiveSample& sample;
  const Monitor& monitor;  // after it took that sample
};

// Of the conditions that can last: not process_gone, not xid.
std::vector<AlertReading> read_alert(const AlertRule& rule, const AlertLook& look);
// The name by which the monitor knows a device: its UUID where it has one.
std::string device_key(const LiveSample& sample, std::size_t place);
bool is_in_scope(const AlertRule& rule, const LiveSample& sample, std::size_t place);
// As the monitor keys its holders.
ProcessKey process_key(const LiveSample& sample, std::int64_t pid);

}  // namespace vramscope
