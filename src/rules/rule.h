#pragma once
// A rule looks at the facts of a source and says what is wrong. One .cpp in rules/ that defines
// `rule_<file name>()` adds one (docs/adding-a-rule.md). Rules are pure: no I/O, no clock, no locale.
#include <cstdint>
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

// What a source can hold that rules look at.
enum class Input : std::uint8_t {
  trace = 1,            // events of a profiler; also of a source that holds nothing else
  snapshot = 2,         // Source::memory_state
  samples = 4,          // Source::allocator_stats
  messages = 8,         // Source::out_of_memory
  device_samples = 16,  // Source::device_log
};
struct Inputs {
  std::uint8_t bits = 0;
  constexpr Inputs(Input one) : bits(static_cast<std::uint8_t>(one)) {}
  constexpr bool has(Inputs other) const { return (bits & other.bits) != 0; }
  constexpr Inputs operator|(Inputs other) const {
    other.bits = static_cast<std::uint8_t>(other.bits | bits);
    return other;
  }
};
constexpr Inputs operator|(Input a, Input b) {
  return Inputs(a) | Inputs(b);
}
Inputs inputs_of(const Source& source);

struct Rule {
  const char* id;     // "memory-growth": also the name of its page in docs/rules/
  const char* about;  // English msgid: one line on what it looks for
  // Adds what it found in one source, or says why it could not look. Adds nothing when all is well. Rule id and
  // source path are filled in by diagnose().
  void (*check)(Facts& facts, Verdicts& verdicts);
  // A source that has none of these is skipped without a call of check(), as being of another kind.
  Inputs about_inputs = Input::trace;
};

// Every rule, by id.
const std::vector<Rule>& rules();

// One rule over one source.
void run_rule(const Rule& rule, Facts& facts, Verdicts& verdicts);

// All rules over all sources; findings most severe first, then by confidence, rule and source.
Verdicts diagnose(const Case& input);

}  // namespace vramscope
