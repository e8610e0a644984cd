#pragma once
// What a diagnosis of devices rests on: how long they were seen, how often, by which clock.
#include <string>

#include "model/source.h"
#include "report/json.h"

namespace vramscope {

// A line for each log, recording or look; empty without one.
std::string seen_devices_text(const Case& input);
// The member "device_logs", where there is one.
void write_seen_devices(JsonWriter& json, const Case& input);

}  // namespace vramscope
