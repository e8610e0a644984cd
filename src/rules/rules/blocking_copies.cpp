// Copies between host and device for which the training thread waits (docs/rules/blocking-copies.md).
#include <algorithm>
#include <utility>

#include "rule_table.h"
#include "rules/arguments.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr double kRelevantShare = 0.05;
constexpr double kNotableShare = 0.005;
constexpr std::int64_t kFewestWithoutSteps = 3;
// Smaller results are read because their values are needed at once.
constexpr std::int64_t kBulkBytes = 1024 * 1024;

struct Words {
  const char* title;
  const char* summary;
  const char* fix;
  const char* code;
};

// In the order of CopyKind.
const Words kWords[kCopyKinds] = {
    {N_("Copies to the device from pageable memory block the thread"),
     N_("{lost} were lost, {share} of the time: the thread waited for copies to the device from pageable memory while "
        "no kernel ran. In all it waited {blocked} for {bytes}; the rest of that ran beside kernels. This costs time "
        "only; memory does not grow from it."),
     N_("Load into pinned memory and copy with non_blocking=True, so that the copy runs beside the computation."),
     "loader = DataLoader(dataset, pin_memory=True)\n"
     "batch = batch.to(device, non_blocking=True)"},
    {N_("Copies from pinned memory block because non_blocking is missing"),
     N_("{lost} were lost, {share} of the time: the thread waited for copies to the device from pinned memory while no "
        "kernel ran. In all it waited {blocked} for {bytes}; the rest of that ran beside kernels. This costs time "
        "only; memory does not grow from it."),
     N_("The memory is pinned already: pass non_blocking=True, and the thread goes on while the copy runs."),
     "batch = batch.to(device, non_blocking=True)"},
    {N_("Copies from the device to the host block the thread"),
     N_("{lost} were lost, {share} of the time: the thread waited for copies to the host while no kernel ran. In all "
        "it waited {blocked} for {bytes}; the rest of that ran beside kernels. This costs time only; memory does not "
        "grow from it."),
     N_("Copy results less often, several in one go, or into pinned memory with non_blocking=True and synchronize when "
        "the values are needed."),
     "host = torch.empty_like(result, device=\"cpu\", pin_memory=True)\n"
     "host.copy_(result, non_blocking=True)"},
};

void report(Facts& facts, std::size_t kind, double share, Verdicts& verdicts) {
  const CopyUse& use = facts.copies();
  const CopyGroup& group = use.groups[kind];
  const bool fixable = static_cast<CopyKind>(kind) != CopyKind::to_host || group.bytes / group.copies >= kBulkBytes;
  Finding finding;
  // One slow copy among many is no steady cost.
  const double usual = use.by_steps ? std::min(share, group.median_share) : share;
  finding.severity = usual >= kRelevantShare && fixable ? Severity::warning : Severity::info;
  const double joined = static_cast<double>(use.joined) / static_cast<double>(use.host_copies);
  finding.confidence = bounded_confidence(confidence_from(group.copies) * (0.5 + 0.5 * joined) * (fixable ? 1.0 : 0.7));
  const Words& words = kWords[kind];
  finding.title = words.title;
  finding.summary = words.summary;
  finding.fix = words.fix;
  finding.fix_code = words.code;
  finding.arguments = {{"bytes", bytes_value(group.bytes)},
                       {"blocked", time_value(group.blocked_ns)},
                       {"lost", time_value(group.lost_ns)},
                       {"share", share_value(share)}};
  const Message where =
      use.by_steps ? where_steps(facts.steps(), 0, facts.steps().size() - 1) : Message{N_("the whole recording"), {}};
  finding.evidence.push_back({N_("time lost: waiting while no kernel ran"), time_value(group.lost_ns), where});
  finding.evidence.push_back({N_("share of the time lost"), share_value(share), where});
  finding.evidence.push_back({N_("time the thread waited in all"), time_value(group.blocked_ns), where});
  finding.evidence.push_back({N_("copies that block"), count_value(group.copies), where});
  finding.evidence.push_back({N_("bytes copied"), bytes_value(group.bytes), where});
  finding.evidence.push_back(
      {N_("longest wait for a copy"), time_value(group.longest_ns), where_span(facts, group.longest)});
  verdicts.findings.push_back(std::move(finding));
}

void check(Facts& facts, Verdicts& verdicts) {
  const CopyUse& use = facts.copies();
  if (use.host_copies == 0) {
    return skip(verdicts, N_("The recording has no copies between host and device."));
  }
  if (use.joined == 0) {
    return skip(verdicts, N_("The API calls behind the copies were not recorded, so it cannot be told who waited."));
  }
  for (std::size_t kind = 0; kind < kCopyKinds; ++kind) {
    const CopyGroup& group = use.groups[kind];
    // Without steps the recording may begin and end anywhere: a wait or two say nothing.
    if (group.copies == 0 || use.span_ns <= 0 || (!use.by_steps && group.copies < kFewestWithoutSteps)) continue;
    const double share = static_cast<double>(group.lost_ns) / static_cast<double>(use.span_ns);
    if (share >= kNotableShare) report(facts, kind, share, verdicts);
  }
}

}  // namespace

Rule rule_blocking_copies() {
  return {"blocking-copies", N_("copies between host and device that make the thread wait"), check};
}

}  // namespace vramscope
