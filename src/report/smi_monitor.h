#pragma once
// The scrolling tables of `nvidia-smi dmon` and `pmon`: a header of two lines and a row of fixed columns for each GPU
// or process. Never translated. Source: their output of drivers 580 to 595.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "devices/backend.h"

namespace vramscope {

struct SmiTable {
  std::string groups;  // letters, in the order of the columns: "puc"
  bool with_date = false, with_time = false;
  bool is_csv = false;
  bool with_names = true, with_units = true;  // the two lines of the header
};

// "pucvmet", and "um" of processes.
extern const std::string_view kDeviceGroups, kProcessGroups;

std::string device_table_header(const SmiTable& table);
std::string process_table_header(const SmiTable& table);
Wanted device_table_wanted(const SmiTable& table);
Wanted process_table_wanted(const SmiTable& table);

// How the counters of throttling stood, to tell what happened since.
struct ThrottleCounters {
  std::optional<std::int64_t> power_us, thermal_us;
};
ThrottleCounters throttle_counters(const DeviceSample& gpu);
struct Throttled {
  std::optional<std::int64_t> power_percent;  // of the time
  std::optional<bool> is_thermal;
};
Throttled throttled_between(const ThrottleCounters& before, const ThrottleCounters& now, std::int64_t elapsed_ns);

void append_device_row(std::string& out, const SmiTable& table, const DeviceSample& gpu, const Throttled& throttled,
                       std::int64_t unix_ns);
// `process` null: the row of a GPU without processes.
void append_process_row(std::string& out, const SmiTable& table, const DeviceSample& gpu, const DeviceProcess* process,
                        std::string_view name, std::int64_t unix_ns);

}  // namespace vramscope
