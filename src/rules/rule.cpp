#include "rules/rule.h"

#include <algorithm>
#include <string_view>

#include "rule_table.h"
#include "rules/same_bytes.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

const char* other_kind(Inputs inputs) {
  if (inputs.has(Input::device_samples)) return N_("It is about logs and recordings of devices.");
  const bool snapshot = inputs.has(Input::snapshot);
  const bool log = inputs.has(Input::samples) || inputs.has(Input::messages);
  if (inputs.has(Input::trace)) {
    return snapshot || log ? N_("It is about profiler traces, memory snapshots and logs of the allocator's figures.")
                           : N_("It is about profiler traces.");
  }
  if (!snapshot) return N_("It is about logs.");
  return log ? N_("It is about memory snapshots and logs.") : N_("It is about memory snapshots.");
}

}  // namespace

Inputs inputs_of(const Source& source) {
  Inputs inputs = Input::trace;
  inputs.bits = 0;
  if (source.memory_state) inputs = inputs | Input::snapshot;
  if (!source.allocator_stats.empty()) inputs = inputs | Input::samples;
  if (!source.out_of_memory.empty()) inputs = inputs | Input::messages;
  if (source.device_log) inputs = inputs | Input::device_samples;
  const bool has_events = source.trace.spans.size() > 0 || source.trace.memory.size() > 0;
  if (has_events || (inputs.bits == 0 && !source.memory_timeline)) inputs = inputs | Input::trace;
  return inputs;
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> table = rule_table();
    std::sort(table.begin(), table.end(),
              [](const Rule& a, const Rule& b) { return std::string_view(a.id) < std::string_view(b.id); });
    return table;
  }();
  return all;
}

void run_rule(const Rule& rule, Facts& facts, Verdicts& verdicts) {
  const std::size_t findings = verdicts.findings.size();
  const std::size_t skipped = verdicts.skipped.size();
  if (inputs_of(facts.source()).has(rule.about_inputs)) {
    rule.check(facts, verdicts);
  } else {
    verdicts.skipped.push_back({{}, {}, other_kind(rule.about_inputs), {}, true});
  }
  const std::string& path = facts.source().path;
  for (std::size_t i = findings; i < verdicts.findings.size(); ++i) {
    verdicts.findings[i].rule = rule.id;
    verdicts.findings[i].source = path;
  }
  for (std::size_t i = skipped; i < verdicts.skipped.size(); ++i) {
    verdicts.skipped[i].rule = rule.id;
    verdicts.skipped[i].source = path;
  }
  if (findings == verdicts.findings.size() && skipped == verdicts.skipped.size()) {
    verdicts.passed.push_back({rule.id, path});
  }
}

Verdicts diagnose(const Case& input) {
  Verdicts verdicts;
  for (const Source& source : input.sources) {
    Facts facts(input, source);
    const std::size_t first = verdicts.findings.size();
    for (const Rule& rule : rules()) run_rule(rule, facts, verdicts);
    relate_findings(source.trace, verdicts.findings, first);
  }
  std::stable_sort(verdicts.findings.begin(), verdicts.findings.end(), [](const Finding& a, const Finding& b) {
    if (a.severity != b.severity) return a.severity > b.severity;
    if (a.confidence != b.confidence) return a.confidence > b.confidence;
    return a.rule != b.rule ? a.rule < b.rule : a.source < b.source;
  });
  return verdicts;
}

}  // namespace vramscope
