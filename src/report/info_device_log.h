#pragma once
// What `info` says of a log of devices.
#include <string>

#include "model/source.h"
#include "report/fact_lines.h"
#include "report/json.h"

namespace vramscope {

// Only of a source with a device_log.
void add_device_log_facts(FactLines& facts, const Source& source);
std::string device_log_table(const Source& source);
// The member "device_log" and what belongs to it.
void write_device_log_facts(JsonWriter& json, const Source& source);

}  // namespace vramscope
