// The training thread waits for its data loader (docs/rules/loader-starved.md).
#include <algorithm>
#include <cmath>
#include <utility>

#include "rule_table.h"
#include "rules/arguments.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr std::int64_t kFewestSteps = 3;
constexpr double kRelevantShare = 0.15;
constexpr double kNotableShare = 0.05;

// The share of the steps that is lost: on a device that works on meanwhile, loading costs nothing.
double lost_share(const LoaderUse& use) {
  const double usual = std::min(use.share, use.median_share * 2);  // a slow first batch is no steady state
  return use.idle_in_loader_share ? std::min(usual, *use.idle_in_loader_share) : usual;
}

const char* summary_of(const LoaderUse& use) {
  if (use.busy_share) {
    return use.has_workers ? N_("The training thread spends {share} of the steps waiting for the next batch, although "
                                "worker processes "
                                "prepare them; the device is busy only {busy} of the time. With {factor} times as many "
                                "workers, or a "
                                "loader that much faster, the waiting would end.")
                           : NN_("The training thread spends {share} of the steps loading data, and the device is busy "
                                 "only {busy} of the time. A batch takes {batch} to load and the rest of a step "
                                 "{rest}: {workers} worker process would hide the loading.",
                                 "The training thread spends {share} of the steps loading data, and the device is busy "
                                 "only {busy} of the time. A batch takes {batch} to load and the rest of a step "
                                 "{rest}: {workers} worker processes would hide the loading.");
  }
  return use.has_workers
             ? N_("The training thread spends {share} of the steps waiting for the next batch, although "
                  "worker processes "
                  "prepare them. With {factor} times as many workers, or a loader that much faster, the "
                  "waiting would end.")
             : NN_("The training thread spends {share} of the steps loading data. A batch takes {batch} to "
                   "load and the rest of a step {rest}: {workers} worker process would hide the loading.",
                   "The training thread spends {share} of the steps loading data. A batch takes {batch} to "
                   "load and the rest of a step {rest}: {workers} worker processes would hide the loading.");
}

void add_evidence(Facts& facts, Finding& finding) {
  const LoaderUse& use = facts.loader();
  const Message where = where_steps(facts.steps(), 0, facts.steps().size() - 1);
  const auto steps = static_cast<std::int64_t>(facts.steps().size());
  finding.evidence.push_back({N_("in the data loader, share of the steps"), share_value(use.share), where});
  finding.evidence.push_back({N_("time in the data loader"), time_value(use.loader_ns), where});
  finding.evidence.push_back({N_("time of a step"), time_value(use.step_ns / steps), where});
  finding.evidence.push_back({N_("time to load a batch"), time_value(use.loader_ns / use.batches), where});
  if (use.busy_share) {
    finding.evidence.push_back({N_("device busy, share of the steps"), share_value(*use.busy_share), where});
    finding.evidence.push_back(
        {N_("in the data loader with devices idle"), share_value(*use.idle_in_loader_share), where});
  }
  if (!use.has_workers) {
    finding.evidence.push_back(
        {N_("workers that would hide the loading"), count_value(workers_that_hide(use.loader_ns, use.step_ns)), where});
  }
  finding.evidence.push_back(
      {N_("longest load"), time_value(facts.trace().spans.duration_ns[use.longest]), where_span(facts, use.longest)});
}

void report(Facts& facts, double lost, Verdicts& verdicts) {
  const LoaderUse& use = facts.loader();
  const auto steps = static_cast<std::int64_t>(facts.steps().size());
  const std::int64_t rest = use.step_ns - use.loader_ns;
  const double factor = rest > 0 ? static_cast<double>(use.step_ns) / static_cast<double>(rest) : 99.0;
  Finding finding;
  finding.severity = lost >= kRelevantShare ? Severity::warning : Severity::info;
  const double clear = std::min(1.0, lost / (2 * kRelevantShare));  // near the threshold chance matters more
  finding.confidence = bounded_confidence(confidence_from(steps) * (0.5 + 0.5 * clear));
  finding.title = use.busy_share ? N_("The device starves: the data loader is too slow")
                                 : N_("The training thread waits for its data loader");
  finding.summary = summary_of(use);
  finding.fix =
      use.has_workers
          ? N_("Raise num_workers, keep the workers with persistent_workers=True, let each prepare more batches ahead "
               "with prefetch_factor, and move costly decoding or augmentation out of the loader.")
          : N_("Load in worker processes, with pinned memory so that copies to the device can run beside the "
               "computation. If the machine has fewer cores, make loading a batch cheaper first.");
  finding.fix_code = use.has_workers
                         ? "DataLoader(dataset, num_workers=2 * current, persistent_workers=True, prefetch_factor=4)"
                         : "DataLoader(dataset, num_workers=N, pin_memory=True, persistent_workers=True)";
  finding.arguments = {{"share", share_value(use.share)},
                       {"busy", share_value(use.busy_share.value_or(0))},
                       {"batch", time_value(use.loader_ns / use.batches)},
                       {"rest", time_value(rest / steps)},
                       {"workers", count_value(workers_that_hide(use.loader_ns, use.step_ns))},
                       {"factor", {std::round(factor * 10) / 10, Unit::none}}};
  add_evidence(facts, finding);
  verdicts.findings.push_back(std::move(finding));
}

void check(Facts& facts, Verdicts& verdicts) {
  const LoaderUse& use = facts.loader();
  if (use.calls_anywhere == 0) {
    return skip(verdicts, N_("The recording has no marks of a PyTorch DataLoader."));
  }
  const auto steps = static_cast<std::int64_t>(facts.steps().size());
  if (steps < kFewestSteps) {
    return skip(verdicts,
                NN_("Only {steps} whole step was recorded; at least {needed} are needed.",
                    "Only {steps} whole steps were recorded; at least {needed} are needed."),
                {{"steps", count_value(steps)}, {"needed", count_value(kFewestSteps)}});
  }
  if (use.batches == 0) {
    return skip(verdicts, N_("The data loader does not run on the training thread, so its time is not the thread's."));
  }
  const double lost = lost_share(use);
  if (lost >= kNotableShare) report(facts, lost, verdicts);
}

}  // namespace

Rule rule_loader_starved() {
  return {"loader-starved", N_("a data loader that lets the training wait"), check};
}

}  // namespace vramscope
