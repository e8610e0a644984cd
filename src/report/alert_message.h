#pragma once
// An alert's event as a message for people and as JSON for machines.
#include <cstddef>
#include <cstdint>
#include <string>

#include "model/alert.h"
#include "report/findings.h"
#include "report/json.h"

namespace vramscope {

struct AlertMessage {
  std::string subject;  // one line
  std::string body;     // lines with "\n", no colours
};

struct AlertMessageOptions {
  bool ascii = false;      // the curve; mail is often shown in fonts without braille
  std::size_t width = 76;  // columns of the curve and of prose
  Wording wording = Wording::chosen_language;
};

// For the thread that prints: it looks at terminal().
AlertMessage alert_message(const AlertEvent& event, const AlertMessageOptions& options = {});
// What happened to whom, in one sentence: "GPU 0 (NVIDIA A100): memory.used is 92.1 % (…), the limit is 90 %."
std::string alert_sentence(const AlertEvent& event, Wording wording);
// "92.1 %", "37.50 GiB", "310.0 W"
std::string alert_value(double value, AlertUnit unit, Wording wording);
// "19 s", "20 min 05 s", "3 h 10 min"
std::string alert_duration(std::int64_t nanoseconds, Wording wording);
// "GPU 0", "GPU 7 MIG 1", "pid 4242"
std::string alert_place(const AlertSubject& subject);

// "fired", "repeated", "resolved".
const char* alert_kind_name(AlertKind kind);
// "bytes", "bytes_per_hour", …; empty for a plain number.
const char* alert_unit_name(AlertUnit unit);
// docs/schemas/alert.schema.json, with a newline.
std::string alert_json(const AlertEvent& event);
// The members of that object, for one that has been begun.
void write_alert(JsonWriter& json, const AlertEvent& event);
void write_alert_subject(JsonWriter& json, const AlertSubject& subject);

}  // namespace vramscope
