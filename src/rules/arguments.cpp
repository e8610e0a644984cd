#include "rules/arguments.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr std::int64_t kFewNumbers = 4096;
constexpr double kNanosecondsPerHour = 3.6e12;
// Where the size of the memory is not known: a workstation's.
constexpr double kUsualDeviceBytes = 16.0 * 1024 * 1024 * 1024;

std::string frame_text(const Trace& trace, StringId frame) {
  return std::string(trace.strings.view(frame));
}

}  // namespace

Message where_steps(const StepRanges& steps, std::size_t first, std::size_t last) {
  const char* id = steps.source == StepSource::profiler ? N_("ProfilerStep#{first} to #{last}")
                                                        : N_("optimizer steps {first} to {last}");
  if (first == last) {
    return {steps.source == StepSource::profiler ? N_("ProfilerStep#{first}") : N_("optimizer step {first}"),
            {{"first", {steps.ranges[first].number, Unit::none}}}};
  }
  // Step numbers are names, not counts: no thousands separators.
  return {id, {{"first", {steps.ranges[first].number, Unit::none}}, {"last", {steps.ranges[last].number, Unit::none}}}};
}

Message where_steps_on(const std::string& device, const StepRanges& steps, std::size_t first, std::size_t last) {
  Message where = where_steps(steps, first, last);
  where.id = steps.source == StepSource::profiler ? N_("{device}, ProfilerStep#{first} to #{last}")
                                                  : N_("{device}, optimizer steps {first} to {last}");
  where.arguments.push_back({"device", text_value(device)});
  return where;
}

Message where_named(std::string name) {
  return {"{name}", {{"name", text_value(std::move(name))}}};
}

Message where_op(const Trace& trace, StringId op, StringId frame) {
  if (op == 0 && frame == 0) return {N_("outside any operator"), {}};
  if (op == 0) return where_named(frame_text(trace, frame));
  if (frame == 0) return where_named(frame_text(trace, op));
  return {N_("{op} at {place}"),
          {{"op", text_value(frame_text(trace, op))}, {"place", text_value(frame_text(trace, frame))}}};
}

Message where_span(Facts& facts, SpanIndex span) {
  if (span == kNone) return {};
  const Trace& trace = facts.trace();
  const StringId frame = telling_frame(trace, trace.stack_of(span));
  const std::uint32_t step = facts.steps().index_at(trace.spans.start_ns[span]);
  if (step == kNone) return where_op(trace, trace.spans.name[span], frame);
  const Value number = {facts.steps().ranges[step].number, Unit::none};
  const bool marked = facts.steps().source == StepSource::profiler;
  const Value place = text_value(frame_text(trace, frame != 0 ? frame : trace.spans.name[span]));
  return {marked ? N_("ProfilerStep#{step}, {place}") : N_("optimizer step {step}, {place}"),
          {{"step", number}, {"place", place}}};
}

std::int64_t unusable_memory_events(const Source& source) {
  for (const Trouble& trouble : source.trouble) {
    if (trouble.name == "memory_event_without_bytes") return trouble.count;
  }
  return 0;
}

Message unusable_memory(std::int64_t count) {
  return {
      NN_("The file holds {count} memory event, but it does not say how many bytes; export the trace again with the "
          "profiler's own export_chrome_trace().",
          "The file holds {count} memory events, but none says how many bytes; export the trace again with the "
          "profiler's own export_chrome_trace()."),
      {{"count", count_value(count)}}};
}

void skip_without_memory(Facts& facts, Verdicts& verdicts) {
  const std::int64_t unusable = unusable_memory_events(facts.source());
  if (unusable == 0) return skip(verdicts, N_("The recording has no memory events; record with profile_memory=True."));
  Message why = unusable_memory(unusable);
  skip(verdicts, why.id, std::move(why.arguments));
}

void skip(Verdicts& verdicts, const char* why, Arguments arguments) {
  verdicts.skipped.push_back({{}, {}, why, std::move(arguments)});
}

double confidence_from(std::int64_t count) {
  return 1.0 - std::exp2(-static_cast<double>(count));
}

double bounded_confidence(double confidence) {
  return std::round(std::clamp(confidence, 0.05, 0.99) * 100.0) / 100.0;
}

Severity severity_of_growth(double bytes_per_hour, std::optional<std::int64_t> device_bytes) {
  const double whole = device_bytes ? static_cast<double>(*device_bytes) : kUsualDeviceBytes;
  if (bytes_per_hour >= whole / 10) return Severity::error;
  return bytes_per_hour >= whole / 100 ? Severity::warning : Severity::info;
}

GrowthRate growth_rate(Facts& facts, const MemoryDevice& device, std::int64_t bytes_per_step, std::int64_t peak_bytes) {
  GrowthRate rate;
  const std::int64_t step_ns = facts.steps().median_ns();
  if (step_ns > 0) {
    rate.bytes_per_hour = static_cast<double>(bytes_per_step) * (kNanosecondsPerHour / static_cast<double>(step_ns));
  }
  for (const DeviceInfo& info : facts.source().environment.devices) {
    const bool same = !device.is_cpu() && info.id == device.index;
    if (same && info.total_memory_bytes && *info.total_memory_bytes > 0) rate.device_bytes = info.total_memory_bytes;
  }
  if (bytes_per_step < kFewNumbers || bytes_per_step < peak_bytes / 1000000) return rate;
  rate.severity = severity_of_growth(rate.bytes_per_hour, rate.device_bytes);
  return rate;
}

}  // namespace vramscope
