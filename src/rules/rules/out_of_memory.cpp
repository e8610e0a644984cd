// Allocations that failed, explained (docs/rules/out-of-memory.md).
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/allocator_live.h"
#include "analysis/table_figures.h"
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
  const bool is_host = is_out_of_host_memory(event);
  add(is_host ? N_("free on the machine") : N_("free on the device"), event.free_bytes);
  add(is_host ? N_("memory of the machine") : N_("memory of the device"), event.total_bytes);
  add(N_("needed by the compiled program"), event.program_bytes);
  // Only where it tells why free memory was not enough.
  if (event.driver_bytes && event.free_bytes && event.asked_bytes && *event.free_bytes >= *event.asked_bytes) {
    add(N_("asked of the driver for it, a whole segment"), event.driver_bytes);
  }
  add(N_("allocated by the process"), event.allocated_bytes);
  add(N_("allocated in private pools"), event.private_pool_bytes);
  add(N_("reserved and not allocated"), oom.verdict.unallocated_bytes);
  add(N_("largest free piece"), event.largest_hole_bytes);
  add(N_("in use by this process, its context included"), is_host ? event.process_bytes : oom.verdict.process_bytes);
  add(N_("in use outside this process's allocator"), oom.verdict.held_outside_bytes);
  add(N_("limit of the program"), event.allowed_bytes);
  const auto add_tokens = [&](const char* what, const std::optional<std::int64_t>& tokens) {
    if (tokens) finding.evidence.push_back({what, count_value(*tokens), where});
  };
  add_tokens(N_("longest request that the model allows, in tokens"), event.asked_tokens);
  add_tokens(N_("longest request that the cache holds, in tokens"), event.fitting_tokens);
  std::vector<ProcessMemory> others = oom.verdict.others;
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

void report(Facts& facts, const Failures& failures, Verdicts& verdicts) {
  const ExplainedOom& oom = *failures.last;
  const Message summary = oom_summary(oom);
  Finding finding;
  finding.severity = Severity::error;
  finding.confidence = oom_confidence(oom);
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
  finding.fix_code = oom_command(oom);
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

// Failures that the allocator counted, where no message of the log tells of one.
void report_counted(const Source& source, const TableFigures& figures, Verdicts& verdicts) {
  const std::string device = "cuda:" + std::to_string(figures.device);
  Finding finding;
  finding.severity = Severity::error;
  finding.confidence = 0.9;
  finding.title = N_("Allocations failed on {device}, by the allocator's own count");
  finding.summary =
      figures.ooms.rise > 0
          ? NN_("Between the first and the last sample {count} allocation failed for want of memory. What was asked "
                "for "
                "is not told.",
                "Between the first and the last sample {count} allocations failed for want of memory. What was asked "
                "for "
                "is not told.")
          : NN_("{count} allocation had failed for want of memory before the log's first sample. What was asked for is "
                "not told.",
                "{count} allocations had failed for want of memory before the log's first sample. What was asked for "
                "is "
                "not told.");
  const std::int64_t count = figures.ooms.rise > 0 ? figures.ooms.rise : *figures.ooms.last;
  finding.arguments = {{"device", text_value(device)}, {"count", count_value(count)}};
  const Message where = {N_("{device}, line {line}"),
                         {{"device", text_value(device)}, {"line", {figures.line, Unit::none}}}};
  finding.evidence.push_back({N_("failed allocations (num_ooms)"), count_value(*figures.ooms.last), where});
  if (figures.retries.last) {
    finding.evidence.push_back(
        {N_("allocations tried again (num_alloc_retries)"), count_value(*figures.retries.last), where});
  }
  const auto add = [&](const char* what, const std::optional<std::int64_t>& bytes) {
    if (bytes) finding.evidence.push_back({what, bytes_value(*bytes), where});
  };
  add(N_("allocated by the process"), figures.allocated_bytes);
  add(N_("reserved"), figures.reserved_bytes);
  add(N_("free memory beside live blocks"), figures.pieces_bytes);
  if (is_in_pieces(figures) && !has_expandable_segments(source.environment.settings)) {
    finding.fixes.push_back(
        {N_("Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True before the program starts, so that "
            "free pieces can be joined."),
         {}});
  }
  finding.fixes.push_back(
      {N_("Look for the message of the failure in the program's error output: it tells what was asked "
          "for, what was free and what other processes held."),
       {}});
  finding.fixes.push_back({N_("Use a smaller batch."), {}});
  verdicts.findings.push_back(std::move(finding));
}

bool has_message(Facts& facts, std::int32_t device) {
  return std::any_of(facts.ooms().begin(), facts.ooms().end(), [&](const ExplainedOom& oom) {
    return !is_out_of_host_memory(oom.event) && oom.event.device.value_or(device) == device;
  });
}

// Whether any of the samples counts failures.
bool check_tables(Facts& facts, Verdicts& verdicts) {
  bool has_count = false;
  for (const TableFigures& figures : table_figures(facts.source())) {
    if (!figures.ooms.last) continue;
    has_count = true;
    if (*figures.ooms.last > 0 && !has_message(facts, figures.device)) {
      report_counted(facts.source(), figures, verdicts);
    }
  }
  return has_count;
}

void check(Facts& facts, Verdicts& verdicts) {
  const bool has_count = check_tables(facts, verdicts);
  if (facts.ooms().empty() && facts.allocators().empty() && !facts.source().memory_state) {
    if (!has_count) skip(verdicts, N_("The samples do not count failed allocations (num_ooms)."));
    return;
  }
  if (facts.ooms().empty() && !has_log(facts)) {
    return skip(verdicts, N_("The snapshot logs no allocation, so it cannot tell whether one failed; record with "
                             "torch.cuda.memory._record_memory_history()."));
  }
  for (const Failures& failures : grouped(facts.ooms())) report(facts, failures, verdicts);
}

}  // namespace

Rule rule_out_of_memory() {
  return {"out-of-memory", N_("allocations that failed, and why"), check,
          Input::snapshot | Input::samples | Input::messages};
}

}  // namespace vramscope
