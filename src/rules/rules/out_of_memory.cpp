// Allocations that failed, explained (docs/rules/out-of-memory.md).
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/allocator_live.h"
#include "rule_table.h"
#include "rules/arguments.h"
#include "rules/oom_messages.h"
#include "rules/stack_places.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr std::size_t kProcessesShown = 4;
constexpr std::size_t kHoldersShown = 3;

// Failures of one device by one cause. Cards of one index and different sizes are of different machines.
struct Failures {
  const ExplainedOom* last = nullptr;
  std::int64_t events = 0;
};

bool is_alike(const ExplainedOom& a, const ExplainedOom& b) {
  const auto key = [](const ExplainedOom& oom) {
    return std::tie(oom.event.framework, oom.event.device, oom.event.total_bytes, oom.verdict.cause);
  };
  return key(a) == key(b);
}

std::vector<Failures> grouped(const std::vector<ExplainedOom>& ooms) {
  std::vector<Failures> groups;
  for (const ExplainedOom& oom : ooms) {
    const auto alike =
        std::find_if(groups.begin(), groups.end(), [&](const Failures& group) { return is_alike(*group.last, oom); });
    if (alike == groups.end()) {
      groups.push_back({&oom, oom.event.count});
    } else {
      alike->last = &oom;
      alike->events += oom.event.count;
    }
  }
  return groups;
}

void add_figures(const ExplainedOom& oom, Finding& finding) {
  const Message where = where_oom(oom);
  const auto add = [&](const char* what, const std::optional<std::int64_t>& bytes) {
    if (bytes) finding.evidence.push_back({what, bytes_value(*bytes), where});
  };
  const OutOfMemory& event = oom.event;
  add(N_("asked for"), event.asked_bytes);
  add(N_("free on the device"), event.free_bytes);
  add(N_("memory of the device"), event.total_bytes);
  add(N_("allocated by the process"), event.allocated_bytes);
  add(N_("reserved and not allocated"), oom.verdict.unallocated_bytes);
  add(N_("largest free piece"), event.largest_hole_bytes);
  add(N_("in use by this process, its context included"), event.process_bytes);
  add(N_("in use outside this process's allocator"), oom.verdict.held_outside_bytes);
  add(N_("limit of the program"), event.allowed_bytes);
  std::vector<ProcessMemory> others = event.others;
  std::stable_sort(others.begin(), others.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  for (std::size_t i = 0; i < std::min(others.size(), kProcessesShown); ++i) {
    finding.evidence.push_back({N_("in use by another process"),
                                bytes_value(others[i].bytes),
                                {N_("process {pid}"), {{"pid", {others[i].pid, Unit::none}}}}});
  }
}

// What lived when it happened, by the log of a snapshot.
void add_holders(Facts& facts, const ExplainedOom& oom, Finding& finding) {
  if (oom.allocator == nullptr) return;
  const Replay& replay = oom.allocator->replay;
  const std::vector<HeldGroup> groups = group_allocations(facts.source(), *oom.allocator->device, replay,
                                                          live_allocations(replay, oom.entry), HeldBy::stack);
  for (std::size_t i = 0; i < std::min(groups.size(), kHoldersShown); ++i) {
    finding.evidence.push_back(
        {N_("in use then, by one stack"), bytes_value(groups[i].bytes), where_stack(facts.source(), groups[i].stack)});
  }
}

// Of the cause; where none is named, of the failure alone.
double confidence_of(const OomVerdict& verdict) {
  if (verdict.cause != OomCause::unknown) return bounded_confidence(verdict.confidence);
  return verdict.contradictions.empty() ? 0.9 : 0.5;
}

void report(Facts& facts, const Failures& failures, Verdicts& verdicts) {
  const ExplainedOom& oom = *failures.last;
  const Message summary = oom_summary(oom);
  Finding finding;
  finding.severity = Severity::error;
  finding.confidence = confidence_of(oom.verdict);
  finding.title = oom_title(oom);
  finding.summary = summary.id;
  finding.arguments = summary.arguments;
  for (const char* contradiction : oom.verdict.contradictions) finding.details.push_back({contradiction, {}});
  finding.fixes = oom_advice(oom);
  if (finding.fixes.empty()) {
    finding.fixes.push_back({N_("Write down torch.cuda.memory_summary() when it happens, or a snapshot by "
                                "torch.cuda.memory._record_memory_history() and _dump_snapshot(): they tell more."),
                             {}});
  }
  finding.fix_code = oom_command(oom.verdict);
  if (failures.events > 1) {
    finding.details.push_back({NN_("It happened {count} time; the figures are those of the last.",
                                   "It happened {count} times; the figures are those of the last."),
                               {{"count", count_value(failures.events)}}});
  }
  add_figures(oom, finding);
  add_holders(facts, oom, finding);
  if (finding.evidence.empty()) {
    finding.evidence.push_back({N_("failed allocations"), count_value(failures.events), where_oom(oom)});
  }
  verdicts.findings.push_back(std::move(finding));
}

bool has_log(Facts& facts) {
  return std::any_of(facts.allocators().begin(), facts.allocators().end(), has_recorded);
}

void check(Facts& facts, Verdicts& verdicts) {
  if (facts.ooms().empty() && !has_log(facts)) {
    return skip(verdicts, N_("The snapshot has no log, so it cannot tell whether an allocation failed; record with "
                             "torch.cuda.memory._record_memory_history()."));
  }
  for (const Failures& failures : grouped(facts.ooms())) report(facts, failures, verdicts);
}

}  // namespace

Rule rule_out_of_memory() {
  return {"out-of-memory", N_("allocations that failed, and why"), check, Input::snapshot | Input::messages};
}

}  // namespace vramscope
