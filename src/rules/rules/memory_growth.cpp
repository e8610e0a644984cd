// Memory that rises step after step and does not fall back (docs/rules/memory-growth.md).
#include <algorithm>
#include <string>
#include <vector>

#include "rule_table.h"
#include "rules/arguments.h"
#include "rules/growth_of_logs.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr std::size_t kGroupsShown = 5;

const char* summary_of(const DeviceGrowth& growth) {
  if (growth.kind == GrowthKind::replaced) {
    return N_(
        "On {device} memory rises by {per_step} in every step although older blocks are freed: something that is "
        "allocated anew gets larger, such as a tensor that is extended in each step. At this rate it takes "
        "{per_hour} more.");
  }
  if (growth.kind == GrowthKind::level) {
    return N_(
        "On {device} memory rises by {per_step} in every step and does not fall back: {growth} in {steps} steps. "
        "At this rate it takes {per_hour} more. The recorded allocations do not tell which blocks stay: they "
        "have no addresses, or were made where the profiler does not look.");
  }
  if (growth.groups.empty()) {
    return N_(
        "On {device} every step leaves about {per_step} behind that is never freed: {growth} in {steps} steps. At "
        "this rate it takes {per_hour} more. The blocks come from different places in different steps.");
  }
  if (growth.groups.front().frame == 0) {
    return N_(
        "On {device} every step leaves about {per_step} behind that is never freed: {growth} in {steps} steps. At "
        "this rate it takes {per_hour} more. Most of it was allocated by {op}.");
  }
  return N_(
      "On {device} every step leaves about {per_step} behind that is never freed: {growth} in {steps} steps. At this "
      "rate it takes {per_hour} more. Most of it was allocated by {op} at {place}.");
}

double confidence_of(const DeviceGrowth& growth) {
  const auto judged = static_cast<std::int64_t>(growth.level.size() - growth.first);
  double confidence = confidence_from(judged) * (0.6 + 0.4 * growth.regularity);
  if (growth.kind == GrowthKind::level) confidence *= 0.8;
  if (growth.kind == GrowthKind::replaced) confidence *= 0.5;
  if (growth.kind == GrowthKind::kept) {
    confidence *= static_cast<double>(growth.steps_that_keep) / static_cast<double>(growth.kept_steps);
  }
  return bounded_confidence(confidence);
}

void add_evidence(Facts& facts, const DeviceGrowth& growth, const std::string& device, const GrowthRate& rate,
                  Finding& finding) {
  const StepRanges& steps = facts.steps();
  const std::size_t last = steps.size() - 1;
  const Message where = where_steps_on(device, steps, growth.first, last);
  finding.evidence.push_back({N_("growth of allocated memory"), bytes_per_step(growth.bytes_per_step), where});
  finding.evidence.push_back({N_("growth in all these steps"), bytes_value(growth.growth_bytes), where});
  finding.evidence.push_back({N_("steps that ended higher than they began"), share_value(growth.growing_share), where});
  finding.evidence.push_back({N_("growth at this rate"), bytes_per_hour(rate.bytes_per_hour), where_named(device)});
  finding.evidence.push_back({N_("most memory in use"), bytes_value(growth.peak_bytes), where_named(device)});
  if (rate.device_bytes) {
    finding.evidence.push_back({N_("memory of the device"), bytes_value(*rate.device_bytes), where_named(device)});
  }
  for (std::size_t i = 0; i < growth.groups.size() && i < kGroupsShown; ++i) {
    const KeptGroup& group = growth.groups[i];
    finding.evidence.push_back({N_("born in every step and never freed"),
                                bytes_per_step(group.bytes / growth.kept_steps),
                                where_op(facts.trace(), group.op, group.frame)});
  }
}

// What the judged steps left behind; of the last step it may be freed in the next.
std::vector<std::uint32_t> kept_events_of(Facts& facts, const DeviceGrowth& growth) {
  const MemoryEvents& memory = facts.trace().memory;
  const StepRanges& steps = facts.steps();
  std::vector<std::uint32_t> events;
  for (std::uint32_t i = 0; i < memory.size(); ++i) {
    if (memory.device[i] != growth.device || memory.bytes[i] <= 0 || memory.address[i] == kUnknownAddress) continue;
    const std::uint32_t born = steps.index_at(memory.time_ns[i]);
    if (born == kNone || born < growth.first || born + 1 >= steps.size()) continue;
    if (is_alive_at(facts.trace(), facts.pairs(), i, steps.ranges.back().end_ns)) events.push_back(i);
  }
  return events;
}

void report(Facts& facts, const DeviceGrowth& growth, Verdicts& verdicts) {
  const Trace& trace = facts.trace();
  const MemoryDevice& device = trace.memory_devices[growth.device];
  const GrowthRate rate = growth_rate(facts, device, growth.bytes_per_step, growth.peak_bytes);
  Finding finding;
  finding.severity = rate.severity;
  // One buffer that grows may be a cache with an end; without addresses nothing shows what stays.
  if (growth.kind == GrowthKind::replaced) finding.severity = Severity::info;
  if (growth.kind == GrowthKind::level) finding.severity = std::min(finding.severity, Severity::warning);
  finding.confidence = confidence_of(growth);
  finding.title = N_("Memory on {device} grows in every step");
  finding.summary = summary_of(growth);
  finding.fix =
      N_("Look for what the program keeps from step to step: a list, a dictionary, an attribute or a closure that "
         "gets a tensor in every step. Keep a number or a detached copy on the CPU instead, and drop what is "
         "no longer needed.");
  finding.fix_code =
      "losses.append(loss.item())             # not: losses.append(loss)\n"
      "outputs.append(output.detach().cpu())  # not: outputs.append(output)";
  finding.arguments = {{"device", text_value(device.name())},
                       {"per_step", bytes_value(growth.bytes_per_step)},
                       {"growth", bytes_value(growth.growth_bytes)},
                       {"steps", count_value(static_cast<std::int64_t>(growth.level.size() - growth.first))},
                       {"per_hour", bytes_per_hour(rate.bytes_per_hour)}};
  if (!growth.groups.empty()) {
    const KeptGroup& group = growth.groups.front();
    finding.arguments.push_back({"op", text_value(group.op == 0 ? "?" : std::string(trace.strings.view(group.op)))});
    finding.arguments.push_back({"place", text_value(std::string(trace.strings.view(group.frame)))});
  }
  add_evidence(facts, growth, device.name(), rate, finding);
  if (growth.kind == GrowthKind::kept) finding.kept_events = kept_events_of(facts, growth);
  verdicts.findings.push_back(std::move(finding));
}

void check(Facts& facts, Verdicts& verdicts) {
  const Inputs inputs = inputs_of(facts.source());
  if (inputs.has(Input::snapshot)) return check_snapshot_growth(facts, verdicts);
  if (inputs.has(Input::samples)) return check_sample_growth(facts, verdicts);
  const Trace& trace = facts.trace();
  if (trace.memory.size() == 0) {
    return skip_without_memory(facts, verdicts);
  }
  if (facts.steps().size() < kFewestSteps) {
    return skip(
        verdicts,
        NN_("Only {steps} whole step was recorded; growth is judged from {needed} on. Call profiler.step() after "
            "each step and record more of them.",
            "Only {steps} whole steps were recorded; growth is judged from {needed} on. Call profiler.step() after "
            "each step and record more of them."),
        {{"steps", count_value(static_cast<std::int64_t>(facts.steps().size()))},
         {"needed", count_value(kFewestSteps)}});
  }
  for (const DeviceGrowth& growth : facts.growth()) {
    if (growth.kind != GrowthKind::none) report(facts, growth, verdicts);
  }
}

}  // namespace

Rule rule_memory_growth() {
  return {"memory-growth", N_("memory that grows step after step"), check,
          Input::trace | Input::snapshot | Input::samples};
}

}  // namespace vramscope
