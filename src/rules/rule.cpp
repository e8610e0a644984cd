#include "rules/rule.h"

#include <algorithm>
#include <string_view>

#include "rule_table.h"

namespace vramscope {

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
  rule.check(facts, verdicts);
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
    Facts facts(source);
    for (const Rule& rule : rules()) run_rule(rule, facts, verdicts);
  }
  std::stable_sort(verdicts.findings.begin(), verdicts.findings.end(), [](const Finding& a, const Finding& b) {
    if (a.severity != b.severity) return a.severity > b.severity;
    if (a.confidence != b.confidence) return a.confidence > b.confidence;
    return a.rule != b.rule ? a.rule < b.rule : a.source < b.source;
  });
  return verdicts;
}

}  // namespace vramscope
