#pragma once
// What an alert rule has to tell: plain data, enough for a message with no look back at the devices.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/finding.h"

namespace vramscope {

enum class AlertKind : std::uint8_t {
  fired,
  repeated,  // it still holds, an hour after the message before
  resolved
};

enum class AlertCondition : std::uint8_t {
  metric,          // a value of the metric table against a threshold
  process_memory,  // memory of one process on one device against a threshold
  memory_growing,
  full_within,
  gpu_lost,
  process_gone,
  xid
};

// The base unit of a value and its threshold.
enum class AlertUnit : std::uint8_t {
  none,
  bytes,
  bytes_per_second,
  bytes_per_hour,
  percent,
  milliwatts,
  millijoules,
  megahertz,
  celsius,
  milliseconds,
  microseconds,
  nanoseconds
};

// Texts of processes are the kernel's bytes: whoever shows them makes them harmless.
struct AlertProcess {
  std::int64_t pid = 0;
  std::string name;     // empty: unknown
  std::string user;     // empty: unknown
  std::string command;  // empty: unknown
  std::optional<std::int64_t> used_bytes;
};

struct AlertSubject {
  std::string host;
  std::optional<int> gpu;  // index; empty for a process on several or unknown devices
  std::optional<int> mig;  // number of the MIG device within that GPU
  std::string gpu_uuid;
  std::string gpu_name;
  std::optional<AlertProcess> process;
};

struct AlertPoint {
  std::int64_t real_time_ns = 0;
  std::int64_t value = 0;
};

struct AlertEvent {
  std::string key;   // the same for all events of one rule and subject
  std::string rule;  // as the user wrote it
  AlertKind kind = AlertKind::fired;
  AlertCondition condition = AlertCondition::metric;
  Severity severity = Severity::warning;
  std::size_t rule_index = 0;      // in the list of rules
  std::int64_t time_ns = 0;        // of the sample, on its own clock
  std::int64_t real_time_ns = 0;   // unix
  std::int64_t since_real_ns = 0;  // since when the condition held
  bool is_played_back = false;     // of a simulation or a recording
  AlertSubject subject;
  std::string metric;           // its name; empty where the condition has none
  const char* comparison = "";  // ">", ">=", …; of a metric or process_memory
  AlertUnit unit = AlertUnit::none;
  std::optional<double> value;  // at this moment; Xid: its number; full_within: time left
  std::optional<double> threshold;
  // Of a share of the device's memory: what the percents are of, and the value in bytes.
  std::optional<std::int64_t> value_bytes, total_bytes;
  std::optional<std::int64_t> memory_used_bytes, memory_total_bytes;  // of the device
  std::vector<AlertProcess> holders;                                  // the largest first
  AlertUnit curve_unit = AlertUnit::none;
  std::vector<AlertPoint> curve;  // times ascending
};

}  // namespace vramscope
