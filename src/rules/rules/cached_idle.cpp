// Memory that one process keeps reserved and does not use while another one on the card fails
// (docs/rules/cached-idle.md).
#include <algorithm>
#include <optional>
#include <string>

#include "analysis/idle_cache.h"
#include "rule_table.h"
#include "rules/arguments.h"
#include "rules/oom_messages.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

double confidence_of(Sharing sharing) {
  switch (sharing) {
    case Sharing::named:
      return 0.9;
    case Sharing::room:
      return 0.7;
    case Sharing::not_known:
      return 0.4;
    case Sharing::no:
      break;
  }
  return 0;
}

void add_contexts(const IdleCache& idle, Finding& finding) {
  const auto add = [&](const char* known, const char* assumed, const std::optional<std::int64_t>& bytes) {
    finding.evidence.push_back({bytes ? known : assumed, bytes_value(bytes.value_or(kAssumedContextBytes)), {}});
  };
  add(N_("context of the idle process"), N_("context of the idle process, assumed"), idle.holder_context_bytes);
  add(N_("context of the failed process"), N_("context of the failed process, assumed"), idle.failed_context_bytes);
}

void add_fixes(const IdleCache& idle, std::int64_t missing, Finding& finding) {
  const std::optional<std::int64_t>& returnable = idle.holder.returnable_bytes;
  const bool is_enough = !returnable || *returnable >= missing;
  if (is_enough) {
    finding.fixes.push_back(
        {N_("Call torch.cuda.empty_cache() in the idle process when it has done its peak of work."), {}});
  } else {
    finding.fixes.push_back(
        {N_("Start the idle process with PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, so that its free memory is "
            "whole pages, and call torch.cuda.empty_cache() in it when it has done its peak of work."),
         {}});
    finding.details.push_back({N_("Only {returnable} of it is in wholly free segments, which is what "
                                  "torch.cuda.empty_cache() gives back; the rest lies beside blocks in use."),
                               {{"returnable", bytes_value(*returnable)}}});
  }
  finding.fixes.push_back(
      {N_("Or give it a limit: torch.cuda.set_per_process_memory_fraction(). Then it gives back what "
          "is free before it takes more."),
       {}});
  finding.details.push_back(
      {N_("In the failed process expandable_segments does not help: one process cannot use the holes of another."),
       {}});
}

void report(const ExplainedOom& oom, const IdleCache& idle, std::int64_t missing, Verdicts& verdicts) {
  Finding finding;
  finding.severity = idle.sharing == Sharing::not_known ? Severity::info : Severity::warning;
  finding.confidence = bounded_confidence(confidence_of(idle.sharing));
  finding.title = N_("On {device} another process keeps {idle} that it does not use");
  finding.summary =
      N_("This process was missing {missing}. The one of {holder} has {reserved} reserved and {used} in use: "
         "the {idle} between them would be enough for both to run.");
  if (idle.sharing == Sharing::not_known) {
    finding.details.push_back({N_("The files do not tell whether both ran on the same card at the same time."), {}});
  }
  finding.arguments = {
      {"device", text_value(oom_device(oom.event))},   {"holder", text_value(idle.holder.source->path)},
      {"idle", bytes_value(idle.holder.idle_bytes())}, {"reserved", bytes_value(idle.holder.reserved_bytes)},
      {"used", bytes_value(idle.holder.used_bytes)},   {"missing", bytes_value(missing)}};
  const Message holder = where_named(idle.holder.source->path);
  finding.evidence.push_back({N_("missing in the failed process"), bytes_value(missing), where_oom(oom)});
  finding.evidence.push_back({N_("reserved by the other process"), bytes_value(idle.holder.reserved_bytes), holder});
  finding.evidence.push_back({N_("in use by the other process"), bytes_value(idle.holder.used_bytes), holder});
  if (idle.holder.returnable_bytes) {
    finding.evidence.push_back({N_("in wholly free segments"), bytes_value(*idle.holder.returnable_bytes), holder});
  }
  add_contexts(idle, finding);
  add_fixes(idle, missing, finding);
  verdicts.findings.push_back(std::move(finding));
}

// What the failed process would need from others. The request, where the file does not tell what was free.
std::int64_t missing_of(const ExplainedOom& oom) {
  return oom.verdict.missing_bytes.value_or(oom.event.asked_bytes.value_or(0));
}

// The best known holder of what is missing.
std::optional<IdleCache> find_holder(Facts& facts, const ExplainedOom& oom, std::int64_t missing) {
  std::optional<IdleCache> best;
  const AllocatorDevice* device = oom.allocator == nullptr ? nullptr : oom.allocator->device;
  for (const ReservedMemory& holder :
       reserved_elsewhere(facts.input(), &facts.source(), oom.event.device.value_or(-1))) {
    const IdleCache idle = compare_processes(holder, oom.event, device);
    if (idle.sharing == Sharing::no || !idle.would_fit || holder.idle_bytes() < missing) continue;
    if (!best || confidence_of(idle.sharing) > confidence_of(best->sharing)) best = idle;
  }
  return best;
}

bool another_failed(Facts& facts) {
  const auto failed = [](const Source& source) {
    if (!source.out_of_memory.empty()) return true;
    if (!source.memory_state) return false;
    const auto& devices = source.memory_state->devices;
    return std::any_of(devices.begin(), devices.end(), [](const AllocatorDevice& device) {
      return std::count(device.log.action.begin(), device.log.action.end(), AllocatorAction::oom) > 0;
    });
  };
  return std::any_of(facts.input().sources.begin(), facts.input().sources.end(), failed);
}

void check(Facts& facts, Verdicts& verdicts) {
  if (facts.input().sources.size() < 2) {
    return skip(verdicts,
                N_("It compares two processes of one card: give the snapshot, the log or the message of each."));
  }
  if (facts.ooms().empty() && another_failed(facts)) {
    return skip(verdicts, N_("Judged from the file that tells of the failed allocation."));
  }
  for (std::size_t i = facts.ooms().size(); i > 0; --i) {
    const ExplainedOom& oom = facts.ooms()[i - 1];
    const std::int64_t missing = missing_of(oom);
    if (!oom.event.device || missing <= 0) continue;
    const std::optional<IdleCache> idle = find_holder(facts, oom, missing);
    if (idle) return report(oom, *idle, missing, verdicts);
  }
}

}  // namespace

Rule rule_cached_idle() {
  return {"cached-idle", N_("memory that one process keeps unused while another one fails"), check,
          Input::snapshot | Input::samples | Input::messages};
}

}  // namespace vramscope
