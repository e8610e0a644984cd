#pragma once
// What `info` says of a log of devices.
#include <string>

#include "model/source.h"
#include "report/fact_lines.h"
#include "report/json.h"

namespace vramscope {

// "120 moments over 1 min 59 s, until 2024-05-01 12:34:56 UTC"
std::string log_moments_text(const DeviceLog& log);
// What its times are; for machines "none", "local", "zoned", "time_of_day".
std::string log_clock_text(const DeviceLog& log);
const char* log_clock_word(LogClock clock);

// Only of a source with a device_log.
void add_device_log_facts(FactLines& facts, const Source& source);
std::string device_log_table(const Source& source);
// The member "device_log" and what belongs to it.
void write_device_log_facts(JsonWriter& json, const Source& source);

}  // namespace vramscope
