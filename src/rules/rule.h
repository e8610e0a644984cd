#pragma once
// A rule looks at the facts of a source and says what is wrong. One .cpp in rules/ that defines
// `rule_<file name>()` adds one (docs/adding-a-rule.md). Rules are pure: no I/O, no clock, no locale.
#include <vector>

#include "model/finding.h"
#include "model/source.h"
#include "rules/facts.h"

namespace vramscope {

struct Verdicts {
  std::vector<Finding> findings;
  std::vector<Skipped> skipped;
  std::vector<Passed> passed;
};

struct Rule {
  const char* id;     // "memory-growth": also the name of its page in docs/rules/
  const char* about;  // English msgid: one line on what it looks for
  // Adds what it found in one source, or says why it could not look. Adds nothing when all is well. Rule id and
  // source path are filled in by diagnose().
  void (*check)(Facts& facts, Verdicts& verdicts);
};

// Every rule, by id.
const std::vector<Rule>& rules();

// One rule over one source.
void run_rule(const Rule& rule, Facts& facts, Verdicts& verdicts);

// All rules over all sources; findings most severe first, then by confidence, rule and source.
Verdicts diagnose(const Case& input);

}  // namespace vramscope
