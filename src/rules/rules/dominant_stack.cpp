// One place in the program holds most of the memory, or one size of block piles up (docs/rules/dominant-stack.md).
#include <algorithm>
#include <string>
#include <vector>

#include "analysis/allocator_live.h"
#include "analysis/memory_sums.h"
#include "analysis/size_class_growth.h"
#include "rule_table.h"
#include "rules/arguments.h"
#include "rules/stack_places.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr std::int64_t kNotableBytes = std::int64_t{64} << 20;
constexpr double kNotableGrowth = 0.1;  // of what lives at the end
constexpr std::size_t kClassesShown = 3;

double share_of(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

void report_stack(Facts& facts, const AllocatorFacts& allocator, const HeldGroup& group, std::int64_t live,
                  Verdicts& verdicts) {
  const Message place = where_stack(facts.source(), group.stack);
  Finding finding;
  finding.severity = Severity::info;
  finding.confidence = bounded_confidence(share_of(group.bytes, live));
  finding.title = N_("One place holds {share} of the live memory of {device}");
  finding.summary =
      NN_("{held} of {live} were allocated at one stack, in {count} block. Whoever wants to save memory "
          "begins here.",
          "{held} of {live} were allocated at one stack, in {count} blocks. Whoever wants to save memory "
          "begins here.");
  finding.fix =
      N_("Nothing is wrong by itself. Smaller or fewer tensors, another data type, or another device for them "
         "save the most at this place.");
  finding.arguments = {{"device", text_value(allocator.device->name())},
                       {"share", share_value(share_of(group.bytes, live))},
                       {"held", bytes_value(group.bytes)},
                       {"live", bytes_value(live)},
                       {"count", count_value(group.count)}};
  finding.evidence.push_back({N_("live memory allocated there"), bytes_value(group.bytes), place});
  finding.evidence.push_back({N_("live memory in all"), bytes_value(live), where_named(allocator.device->name())});
  verdicts.findings.push_back(std::move(finding));
}

// Without stacks the largest group is no place at all.
void check_stacks(Facts& facts, const AllocatorFacts& allocator, Verdicts& verdicts) {
  const std::size_t end = allocator.device->log.size();
  const std::vector<HeldGroup> groups = group_allocations(facts.source(), *allocator.device, allocator.replay,
                                                          live_allocations(allocator.replay, end), HeldBy::stack);
  std::int64_t live = 0;
  for (const HeldGroup& group : groups) live = add_bytes(live, group.bytes);
  for (const HeldGroup& group : groups) {
    if (group.stack == 0 || group.bytes < kNotableBytes || share_of(group.bytes, live) <= 0.5) continue;
    return report_stack(facts, allocator, group, live, verdicts);
  }
}

void check_sizes(Facts& facts, const AllocatorFacts& allocator, Verdicts& verdicts) {
  const std::vector<SizeClassGrowth> classes = growing_size_classes(*allocator.device, allocator.replay);
  if (classes.empty()) return;
  const SizeClassGrowth& first = classes.front();
  const std::int64_t growth = first.growth_bytes();
  if (growth < kNotableBytes || share_of(growth, allocator.replay.end_bytes) < kNotableGrowth) return;
  const std::string device = allocator.device->name();
  Finding finding;
  finding.severity = Severity::info;
  finding.confidence = bounded_confidence(0.3 + 0.5 * share_of(growth, allocator.replay.end_bytes));
  finding.title = N_("Blocks of up to {size} pile up on {device}");
  finding.summary =
      N_("From the first to the last entry of the log the memory in blocks of this size rises from {before} "
         "to {after}, and their number from {count_before} to {count_after}, without ever falling. A cache "
         "that fills, such as that for keys and values, does this; so do inputs that get longer, and a log "
         "of a part of a step.");
  finding.fix =
      N_("If it goes on from step to step it is a leak: take several snapshots and compare them. If it is a "
         "cache, give it a limit.");
  finding.arguments = {{"device", text_value(device)},
                       {"size", bytes_value(first.request_bytes)},
                       {"before", bytes_value(first.bytes.front())},
                       {"after", bytes_value(first.bytes.back())},
                       {"count_before", count_value(first.counts.front())},
                       {"count_after", count_value(first.counts.back())}};
  for (std::size_t i = 0; i < std::min(classes.size(), kClassesShown); ++i) {
    Message where = where_stack(facts.source(), classes[i].stack);
    finding.evidence.push_back(
        {N_("growth of one size of block"), bytes_value(classes[i].growth_bytes()), std::move(where)});
  }
  verdicts.findings.push_back(std::move(finding));
}

void check(Facts& facts, Verdicts& verdicts) {
  if (!has_memory(facts.allocators())) {
    return skip(verdicts,
                N_("The snapshot holds no memory of any device; take it in the process that uses the device."));
  }
  for (const AllocatorFacts& allocator : facts.allocators()) {
    check_stacks(facts, allocator, verdicts);
    check_sizes(facts, allocator, verdicts);
  }
}

}  // namespace

Rule rule_dominant_stack() {
  return {"dominant-stack", N_("one place or one size that holds most of the memory"), check, Input::snapshot};
}

}  // namespace vramscope
