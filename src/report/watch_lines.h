#pragma once
// Lines of `vramscope watch`.
#include <string>

#include "model/alert.h"
#include "model/change.h"

namespace vramscope {

// "process-start"
const char* change_name(ChangeKind kind);
// "20:15:03  GPU 0: …" with a newline, in the user's language and time zone. Not wrapped: a line is one change.
std::string change_line(const Change& change);
// The same for machines, one JSON object; docs/schemas/watch.schema.json.
std::string change_json(const Change& change);
// An alert, likewise.
std::string alert_line(const AlertEvent& event);
std::string alert_line_json(const AlertEvent& event);
// "20:15:03", in the user's time zone, of a unix time.
std::string time_of_day(std::int64_t real_time_ns);

}  // namespace vramscope
