#pragma once
// Short ways to write down what a finding rests on.
#include <cstdint>
#include <optional>
#include <string>

#include "analysis/step_ranges.h"
#include "model/finding.h"
#include "model/trace.h"
#include "model/values.h"
#include "rules/rule.h"

namespace vramscope {

// "steps 3 to 12": the numbers of the steps themselves; `last` is the index of the last one.
Message where_steps(const StepRanges& steps, std::size_t first, std::size_t last);
// The same, on a device.
Message where_steps_on(const std::string& device, const StepRanges& steps, std::size_t first, std::size_t last);
// A place that is named in the input itself: a frame, an operator, a step mark.
Message where_named(std::string name);
// "aten::linear at train.py(42): step"; only what is known.
Message where_op(const Trace& trace, StringId op, StringId frame);
// The step mark and the user's frame around a span, as far as known.
Message where_span(Facts& facts, SpanIndex span);

// Memory events that the file holds but that do not say how many bytes; 0 where there are none.
std::int64_t unusable_memory_events(const Source& source);
// The sentence about them.
Message unusable_memory(std::int64_t count);

// Skips a rule that needs memory events where the source has none.
void skip_without_memory(Facts& facts, Verdicts& verdicts);
void skip(Verdicts& verdicts, const char* why, Arguments arguments = {});

// Confidence that `count` independent observations give, each of which could be chance in half the cases.
double confidence_from(std::int64_t count);
// Kept in [0.05, 0.99] and rounded to two digits.
double bounded_confidence(double confidence);

// An error when the memory is full within hours, a warning within days; below that it may never matter. Where the size
// of the memory is not known, that of a workstation stands in for it.
Severity severity_of_growth(double bytes_per_hour, std::optional<std::int64_t> device_bytes);

// How bad it is when memory of a device grows by so much a step: by what an hour of it takes of the device. A few
// numbers kept from each step, or next to nothing beside what is there (`peak_bytes`), is never more than info.
struct GrowthRate {
  double bytes_per_hour = 0;
  std::optional<std::int64_t> device_bytes;  // the device's memory, where the source tells
  Severity severity = Severity::info;
};
GrowthRate growth_rate(Facts& facts, const MemoryDevice& device, std::int64_t bytes_per_step, std::int64_t peak_bytes);

}  // namespace vramscope
