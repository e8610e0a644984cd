#pragma once
// The sentences about an allocation that failed: message ids with their figures.
#include <vector>

#include "model/finding.h"
#include "rules/facts.h"

namespace vramscope {

// "Out of memory on {device}: …", or the same without a device where it is not told.
const char* oom_title(const ExplainedOom& oom);
// What happened, in one or two sentences; then what contradicts itself.
Message oom_summary(const ExplainedOom& oom);
// What to do, in the order in which to try it. No setting that is in force already.
std::vector<Message> oom_advice(const ExplainedOom& oom);
// A line of shell for the first piece of advice, or "".
const char* oom_command(const OomVerdict& verdict);
// "cuda:0, line 12", "cuda:0, entry 421 of the log".
Message where_oom(const ExplainedOom& oom);
// "cuda:0"; "?" where it is not told.
std::string oom_device(const OutOfMemory& event);

}  // namespace vramscope
