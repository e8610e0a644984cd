// Gradients that pile up from one optimizer step to the next (docs/rules/grads-never-cleared.md).
#include <algorithm>
#include <string>
#include <utility>

#include "analysis/memory_sums.h"
#include "rule_table.h"
#include "rules/arguments.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr std::int64_t kFewestIntervals = 3;

bool piles_up(const UpdateInterval& interval) {
  return interval.clearing == 0 && interval.in_place == interval.gradients;
}

// What memory did meanwhile: the rise of a step, over all devices. The accumulation itself needs none.
std::int64_t rise_per_step(Facts& facts) {
  std::int64_t rise = 0;
  for (const DeviceGrowth& growth : facts.growth()) {
    const auto steps = static_cast<std::int64_t>(growth.level.size() - growth.first);
    rise = add_bytes(rise, subtract_bytes(growth.level.back(), growth.level[growth.first - 1]) / steps);
  }
  return rise;
}

void report(Facts& facts, std::int64_t in_place, Verdicts& verdicts) {
  const GradientUse& use = facts.gradients();
  const auto intervals = static_cast<std::int64_t>(use.intervals.size());
  const Message where = where_span(facts, use.last_step);
  Finding finding;
  finding.severity = Severity::error;
  finding.confidence = bounded_confidence(confidence_from(intervals));
  finding.title = N_("Gradients are never cleared");
  const bool measured = facts.trace().memory.size() > 0 && !facts.growth().empty();
  finding.summary =
      measured
          ? N_("In all {intervals} intervals between optimizer steps every gradient was added to the one before, and "
               "nothing set the gradients to zero or dropped them. Each update uses the sum of all gradients since the "
               "start: the training is wrong. Memory does not grow from it: it changed by {rise} a step.")
          : N_("In all {intervals} intervals between optimizer steps every gradient was added to the one before, and "
               "nothing set the gradients to zero or dropped them. Each update uses the sum of all gradients since the "
               "start: the training is wrong. Memory does not grow from it.");
  finding.fix =
      N_("Clear the gradients once for each optimizer step, before the first backward pass that belongs to it. Should "
         "gradients be accumulated over several batches, clear them after the step that uses them.");
  finding.fix_code =
      "optimizer.zero_grad(set_to_none=True)\n"
      "loss.backward()\n"
      "optimizer.step()";
  finding.arguments = {{"intervals", count_value(intervals)}};
  finding.evidence.push_back(
      {N_("intervals between optimizer steps in which nothing cleared gradients"), count_value(intervals), where});
  finding.evidence.push_back({N_("gradients added in place"), count_value(in_place), where});
  finding.evidence.push_back({N_("gradients that started afresh"), count_value(0), where});
  if (use.gradient_bytes) {
    finding.evidence.push_back(
        {N_("gradients added between the last two optimizer steps"), bytes_value(*use.gradient_bytes), where});
  }
  if (measured) {
    const std::int64_t rise = rise_per_step(facts);
    finding.arguments.push_back({"rise", bytes_value(rise)});
    finding.evidence.push_back(
        {N_("change of allocated memory, all devices"), bytes_per_step(rise),
         where_steps(facts.steps(), warm_up_steps(facts.steps().size()), facts.steps().size() - 1)});
  }
  verdicts.findings.push_back(std::move(finding));
}

void check(Facts& facts, Verdicts& verdicts) {
  const GradientUse& use = facts.gradients();
  if (use.accumulate_calls == 0) {
    return skip(verdicts,
                N_("The recording has no AccumulateGrad operators, so it does not show how gradients are stored."));
  }
  const auto intervals = static_cast<std::int64_t>(use.intervals.size());
  if (intervals < kFewestIntervals) {
    return skip(verdicts,
                NN_("Only {found} interval between optimizer steps holds gradients; at least {needed} are needed.",
                    "Only {found} intervals between optimizer steps hold gradients; at least {needed} are needed."),
                {{"found", count_value(intervals)}, {"needed", count_value(kFewestIntervals)}});
  }
  if (!std::all_of(use.intervals.begin(), use.intervals.end(), piles_up)) return;
  std::int64_t in_place = 0;
  for (const UpdateInterval& interval : use.intervals) in_place = add_bytes(in_place, interval.in_place);
  report(facts, in_place, verdicts);
}

}  // namespace

Rule rule_grads_never_cleared() {
  return {"grads-never-cleared", N_("gradients that pile up over optimizer steps"), check};
}

}  // namespace vramscope
