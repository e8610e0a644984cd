#pragma once
// What somebody's log of devices holds: values and processes moment by moment, as nvidia-smi and its imitators wrote
// them. Plain data; a value that does not change costs nothing from moment to moment.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/column.h"
#include "model/metric.h"

namespace vramscope {

// What the times of a log count from.
enum class LogClock : std::uint8_t {
  none,         // the log has no times: moments are sample numbers
  local,        // a wall clock of unknown time zone, taken as UTC
  zoned,        // unix time: the log tells its time zone
  time_of_day,  // a time without a date: since the first midnight
};

// One metric of one device: runs of equal values. A run lasts until the next one begins, the last to the end.
struct LogSeries {
  Metric metric = Metric::index;
  Column<std::uint32_t> moment;  // where a run begins; rising
  Column<std::int64_t> value;    // in the metric's unit; of a text its place in DeviceLog::texts; else as MetricValue
  Column<ValueState> state;      // not_asked: the log says nothing from here on

  // The run at `at`; nullopt before the first.
  std::optional<std::size_t> run_at(std::uint32_t at) const {
    const auto after = std::upper_bound(moment.begin(), moment.end(), at);
    if (after == moment.begin()) return std::nullopt;
    return static_cast<std::size_t>(after - moment.begin()) - 1;
  }
};

struct LogDevice {
  std::optional<std::int64_t> index;    // nvidia-smi's; of a MIG device its number within its GPU
  std::optional<std::uint32_t> parent;  // of a MIG device: the place of its GPU in DeviceLog::devices
  std::optional<std::int64_t> gpu_instance, compute_instance;  // of a MIG device
  std::vector<LogSeries> series;
};

struct LogProcess {
  std::int64_t pid = 0;
  std::string name;  // as the log has it: a path, a cut name; empty when not told
};

enum class LogProcessType : std::uint8_t { unknown, compute, graphics, both };

inline constexpr std::int64_t kNoLogValue = INT64_MIN;

// One process on one device at one moment.
struct LogUse {
  std::uint32_t process = 0;              // in DeviceLog::processes
  std::uint32_t device = 0;               // in DeviceLog::devices: a GPU
  std::int64_t used_bytes = kNoLogValue;  // kNoLogValue: not told
  // Percent of the device's time, -1 when not told: sm, memory, encoder, decoder, jpeg, ofa.
  std::int16_t share_percent[6] = {-1, -1, -1, -1, -1, -1};
  std::int32_t gpu_instance = -1, compute_instance = -1;  // -1: none told
  LogProcessType type = LogProcessType::unknown;
  ValueState used_state = ValueState::not_asked;
};

struct DeviceLog {
  std::vector<std::string> parts;  // what the log is made of, in the order met: "csv", "xml", "q", "table", …
  LogClock clock = LogClock::none;
  std::uint32_t moments = 0;
  std::int64_t untimed_moments = 0;    // of a log with a clock: they have the time of the moment before
  bool is_date_order_assumed = false;  // a date like 03-04-2026 was taken as month, day, year
  Column<std::int64_t> time_ns;        // of each moment, never falling; empty without a clock
  std::vector<LogDevice> devices;      // in the order met; MIG devices anywhere behind their GPU
  std::vector<std::string> texts;      // of text metrics
  std::vector<LogProcess> processes;
  Column<LogUse> uses;                       // by moment
  Column<std::uint32_t> first_use;           // of each moment; one more at the end
  Column<std::uint8_t> tells_processes;      // of each moment: 1 when the log lists processes there
  std::string driver_version, cuda_version;  // empty when not told
  std::vector<std::pair<std::string, std::int64_t>> unknown_fields;  // no metric has them: name and values, by name
};

// The name that a report gives to the device at `place`: its index, or its place where the log tells none.
inline std::int64_t shown_index(const DeviceLog& log, std::size_t place) {
  return log.devices[place].index.value_or(static_cast<std::int64_t>(place));
}

}  // namespace vramscope
