#pragma once
// How and why a watched program or a process ended.
#include <cstdint>
#include <string>

#include "model/end_reason.h"
#include "report/findings.h"
#include "report/json.h"

namespace vramscope {

// "gpu-out-of-memory"
const char* end_kind_name(EndKind kind);
// Ended well or as it was asked to: info; unknown how: warning; else error.
Severity end_severity(const EndReason& reason);
// "python was killed by signal 9 (SIGKILL) after 3 min 2 s." Of a process that somebody else started, `lasted_ns`
// is below 0: "python (4711) has ended."
std::string end_sentence(const EndReason& reason, std::int64_t lasted_ns, Wording wording);
// Why, in one or more sentences; empty when nothing more is known.
std::string why_text(const EndReason& reason, Wording wording);
// For people: the evidence, a line each, and what to do; empty without either. The curve is end_curve_text()'s.
std::string end_details_text(const EndReason& reason);
// The last minute of the memory of a device with its title; empty without a curve.
std::string end_curve_text(const EndReason& reason);

// One line of docs/schemas/watch.schema.json of kind "ended".
std::string end_json(std::int64_t real_time_ns, const EndReason& reason, std::int64_t lasted_ns);

}  // namespace vramscope
