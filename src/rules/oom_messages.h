#pragma once
// The sentences about an allocation that failed: message ids with their figures.
#include <string>
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
// One of them.
Message oom_advice_message(OomAdvice advice, const ExplainedOom& oom);
// A line of shell for the first piece of advice, or "".
std::string oom_command(const ExplainedOom& oom);
// Of the cause; where none is named, of the failure alone.
double oom_confidence(const ExplainedOom& oom);
// Whether it was the machine's own memory, not a card's.
bool is_out_of_host_memory(const OutOfMemory& event);
// "cuda:0, line 12", "cuda:0, entry 421 of the log".
Message where_oom(const ExplainedOom& oom);
// "cuda:0", "xpu:1"; "?" where it is not told.
std::string oom_device(const OutOfMemory& event);

}  // namespace vramscope
