#pragma once
// An allocation that failed, explained in sentences: figures, cause, advice. For snapshots and logs alike.
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/oom_cause.h"
#include "model/out_of_memory.h"
#include "report/findings.h"
#include "report/json.h"

namespace vramscope {

// "Fragmented: enough is free in sum, but no free piece is large enough." One sentence.
std::string oom_cause_sentence(OomCause cause, Wording wording);
// One sentence a piece of advice, in the order in which to try it.
std::vector<std::string> oom_advice_sentences(const OutOfMemory& event, const OomVerdict& verdict, Wording wording);
// "smaller_batch", …: for JSON.
const char* oom_advice_name(OomAdvice advice);

// Figures as lines, the cause, contradictions and advice; indented by two.
std::string oom_text(const OutOfMemory& event, const OomVerdict& verdict);
// The members of an out-of-memory event, without the braces.
void write_oom(JsonWriter& json, const OutOfMemory& event, const OomVerdict& verdict);

}  // namespace vramscope
