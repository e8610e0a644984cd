// Free memory in pieces that are too small for what is asked for (docs/rules/fragmentation.md).
#include <algorithm>
#include <string>
#include <vector>

#include "analysis/card_memory.h"
#include "analysis/memory_sums.h"
#include "analysis/pinned_segments.h"
#include "analysis/request_sizes.h"
#include "analysis/table_figures.h"
#include "rule_table.h"
#include "rules/arguments.h"
#include "rules/oom_messages.h"
#include "rules/stack_places.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr std::size_t kGroupsShown = 3;
constexpr std::int64_t kNotableBytes = std::int64_t{256} << 20;
constexpr double kNotableShare = 0.2;
constexpr double kLargeShare = 1.0 / 3;
// Blocks that are this much smaller than the request cut it a place that they do not need.
constexpr std::int64_t kMuchSmaller = 8;

double share_of(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

bool rounds_requests(const std::map<std::string, std::string>& settings) {
  return std::any_of(settings.begin(), settings.end(), [](const auto& setting) {
    return setting.first.rfind("roundup_power2_divisions", 0) == 0 && !setting.second.empty() && setting.second != "0";
  });
}

// By what makes the pieces; never what is in force, nor a limit above what is asked for.
std::vector<Message> advice(const std::map<std::string, std::string>& settings, bool small_blocks, bool varied_sizes,
                            std::int64_t request) {
  std::vector<Message> all;
  const bool expandable = has_expandable_segments(settings);
  if (!expandable) {
    all.push_back({N_("Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True before the program starts, so that free "
                      "pieces can be joined."),
                   {}});
  }
  const std::int64_t limit = split_limit_mib(request);
  if (!expandable && small_blocks && limit > 0 && !has_split_limit(settings)) {
    all.push_back({N_("Set {variable}=max_split_size_mb:{limit} (or another limit below the large requests), so "
                      "that small requests do not cut large free blocks."),
                   {{"variable", text_value("PYTORCH_CUDA_ALLOC_CONF")}, {"limit", {limit, Unit::none}}}});
  }
  if (varied_sizes && !rounds_requests(settings)) {
    all.push_back({N_("Nearly every large request has a size of its own: set "
                      "PYTORCH_CUDA_ALLOC_CONF=roundup_power2_divisions:8, or pad the inputs to a few lengths, so that "
                      "blocks fit again."),
                   {}});
  }
  if (all.empty()) {
    all.push_back(
        {N_("The settings against it are in force. Allocate what lives long before what is freed soon, and keep "
            "small results out of the loop that makes large ones."),
         {}});
  }
  return all;
}

void add_pinning(Facts& facts, const AllocatorFacts& allocator, const PinnedMemory& pinned, Finding& finding) {
  const std::string device = allocator.device->name();
  finding.evidence.push_back(
      {N_("free memory beside live blocks"), bytes_value(pinned.free_bytes), where_named(device)});
  finding.evidence.push_back({N_("live blocks beside it"),
                              bytes_value(pinned.live_bytes),
                              {NN_("{device}, in {count} segment", "{device}, in {count} segments"),
                               {{"device", text_value(device)}, {"count", count_value(pinned.segments)}}}});
  for (std::size_t i = 0; i < std::min(pinned.groups.size(), kGroupsShown); ++i) {
    const PinningBlocks& group = pinned.groups[i];
    Message where = where_stack(facts.source(), group.stack);
    if (where.arguments.size() == 1) {
      where = {NN_("by {count} block of {size}: {name}", "by {count} blocks of {size}: {name}"),
               {{"count", count_value(group.blocks)},
                {"size", bytes_value(group.block_bytes)},
                {"name", where.arguments.front().second}}};
    } else {
      where = {NN_("by {count} block of {size}", "by {count} blocks of {size}"),
               {{"count", count_value(group.blocks)}, {"size", bytes_value(group.block_bytes)}}};
    }
    finding.evidence.push_back({N_("kept from being joined"), bytes_value(group.pinned_bytes), std::move(where)});
  }
}

bool has_small_blocks(const PinnedMemory& pinned, std::int64_t request) {
  return !pinned.groups.empty() && pinned.groups.front().block_bytes <= request / kMuchSmaller;
}

// An allocation failed although enough was free.
void report_failure(Facts& facts, const ExplainedOom& oom, Verdicts& verdicts) {
  Finding finding;
  finding.severity = Severity::warning;
  finding.confidence = bounded_confidence(oom.verdict.confidence);
  finding.title = oom.event.device ? N_("Free memory on {device} is in pieces that are too small")
                                   : N_("Free memory is in pieces that are too small");
  finding.summary =
      N_("{unallocated} was reserved and unused when {asked} was asked for. Wholly free segments are given back before "
         "an allocation fails, so this memory lay between live blocks.");
  finding.same_bytes = {N_("This is the failure of the finding {rule}."), {{"rule", text_value("out-of-memory")}}};
  finding.arguments = {{"device", text_value(oom_device(oom.event))},
                       {"asked", bytes_value(oom.event.asked_bytes.value_or(0))},
                       {"unallocated", bytes_value(oom.verdict.unallocated_bytes.value_or(0))}};
  const Message where = where_oom(oom);
  finding.evidence.push_back({N_("asked for"), bytes_value(oom.event.asked_bytes.value_or(0)), where});
  finding.evidence.push_back(
      {N_("reserved and not allocated"), bytes_value(oom.verdict.unallocated_bytes.value_or(0)), where});
  if (oom.event.largest_hole_bytes) {
    finding.evidence.push_back({N_("largest free piece"), bytes_value(*oom.event.largest_hole_bytes), where});
  }
  if (oom.allocator == nullptr) {
    for (const OomAdvice advice : oom.verdict.advice) {
      const bool is_setting = advice == OomAdvice::expandable_segments || advice == OomAdvice::max_split_size;
      if (is_setting) finding.fixes.push_back(oom_advice_message(advice, oom));
    }
    if (finding.fixes.empty()) {
      finding.fix = N_("Let requests have few different sizes, and allocate what lives long first.");
    }
  } else {
    const PinnedMemory pinned = pinned_memory(*oom.allocator->device);
    // A snapshot that was written after the failure may show what was left by then.
    if (oom.allocator->replay.mismatch == EndMismatch::none) add_pinning(facts, *oom.allocator, pinned, finding);
    finding.fixes =
        advice(facts.source().memory_state->settings, has_small_blocks(pinned, oom.event.asked_bytes.value_or(0)),
               has_varied_sizes(oom.allocator->replay), oom.event.asked_bytes.value_or(0));
  }
  verdicts.findings.push_back(std::move(finding));
}

// No failure yet, but the largest request of the loop no longer fits into what is free.
void report_likely(Facts& facts, const AllocatorFacts& allocator, const LargeRequest& request, Verdicts& verdicts) {
  const SegmentUse& use = allocator.use;
  const std::int64_t reserved = use.reserved_bytes.all;
  const double share = share_of(use.free_in_used_segments_bytes, reserved);
  const std::optional<std::int64_t> card = card_bytes(facts.input(), allocator.device->index);
  const bool will_fail =
      card && subtract_bytes(*card, subtract_bytes(reserved, use.free_segments_bytes)) < request.bytes;
  const PinnedMemory pinned = pinned_memory(*allocator.device);
  Finding finding;
  finding.severity = will_fail || share >= kLargeShare ? Severity::warning : Severity::info;
  finding.confidence = bounded_confidence(will_fail ? 0.9 : std::min(0.8, 0.4 + share));
  finding.title = N_("Free memory on {device} is in pieces that are too small");
  finding.summary =
      N_("{free} of the {reserved} reserved are free between live blocks, yet the largest free piece is "
         "{hole}. The program asked for {request} before and will have to take it from the device.");
  if (will_fail) {
    finding.details.push_back({N_("The device ({total}) has no room for that."), {{"total", bytes_value(*card)}}});
  }
  finding.arguments = {{"device", text_value(allocator.device->name())},
                       {"free", bytes_value(use.free_in_used_segments_bytes)},
                       {"reserved", bytes_value(reserved)},
                       {"hole", bytes_value(use.largest_free_block_bytes)},
                       {"request", bytes_value(request.bytes)}};
  const Message where = where_named(allocator.device->name());
  finding.evidence.push_back(
      {N_("share of reserved memory that lies free between live blocks"), share_value(share), where});
  finding.evidence.push_back({N_("largest free piece"), bytes_value(use.largest_free_block_bytes), where});
  finding.evidence.push_back(
      {N_("largest request of the loop"), bytes_value(request.bytes), where_stack(facts.source(), request.stack)});
  add_pinning(facts, allocator, pinned, finding);
  finding.fixes = advice(facts.source().memory_state->settings, has_small_blocks(pinned, request.bytes),
                         has_varied_sizes(allocator.replay), request.bytes);
  verdicts.findings.push_back(std::move(finding));
}

// By the samples of a log: free memory between live blocks while requests found no room.
void report_samples(const Source& source, const TableFigures& figures, Verdicts& verdicts) {
  const std::string device = "cuda:" + std::to_string(figures.device);
  const double share = share_of(*figures.pieces_bytes, *figures.reserved_bytes);
  const std::int64_t misses = add_bytes(figures.retries.rise, figures.ooms.rise);
  Finding finding;
  finding.severity = Severity::warning;
  finding.confidence = bounded_confidence(std::min(0.8, 0.4 + share));
  finding.title = N_("Free memory on {device} is in pieces that are too small");
  finding.summary = NN_(
      "{free} of the {reserved} reserved were free between live blocks, yet {count} allocation of this log found no "
      "room and was tried again or failed.",
      "{free} of the {reserved} reserved were free between live blocks, yet {count} allocations of this log found no "
      "room and were tried again or failed.");
  finding.arguments = {{"device", text_value(device)},
                       {"count", count_value(misses)},
                       {"free", bytes_value(*figures.pieces_bytes)},
                       {"reserved", bytes_value(*figures.reserved_bytes)}};
  const Message where = {N_("{device}, line {line}"),
                         {{"device", text_value(device)}, {"line", {figures.line, Unit::none}}}};
  finding.evidence.push_back(
      {N_("share of reserved memory that lies free between live blocks"), share_value(share), where});
  finding.evidence.push_back({N_("free memory beside live blocks"), bytes_value(*figures.pieces_bytes), where});
  if (figures.allocated_bytes) {
    finding.evidence.push_back({N_("allocated by the process"), bytes_value(*figures.allocated_bytes), where});
  }
  if (figures.retries.rise > 0) {
    finding.evidence.push_back({N_("rise of num_alloc_retries"), count_value(figures.retries.rise), where});
  }
  if (figures.ooms.rise > 0) {
    finding.evidence.push_back({N_("rise of num_ooms"), count_value(figures.ooms.rise), where});
  }
  finding.fixes = advice(source.environment.settings, true, false, *figures.pieces_bytes);
  verdicts.findings.push_back(std::move(finding));
}

// What is free in expandable segments can be joined, and counts as being in pieces all the same.
void check_samples(const Source& source, Verdicts& verdicts) {
  const bool can_be_joined = has_expandable_segments(source.environment.settings);
  for (const TableFigures& figures : table_figures(source)) {
    const bool has_missed = figures.retries.rise > 0 || figures.ooms.rise > 0;
    if (!has_missed || !is_in_pieces(figures)) continue;
    if (can_be_joined) {
      return skip(verdicts,
                  N_("By the log expandable segments are on: their free memory can be joined, and the samples "
                     "do not tell it from pieces."));
    }
    report_samples(source, figures, verdicts);
  }
}

const ExplainedOom* last_fragmented(Facts& facts, const AllocatorFacts* allocator) {
  const ExplainedOom* last = nullptr;
  for (const ExplainedOom& oom : facts.ooms()) {
    if (oom.allocator == allocator && oom.verdict.cause == OomCause::fragmented && oom.event.asked_bytes) last = &oom;
  }
  return last;
}

void check_allocator(Facts& facts, const AllocatorFacts& allocator, Verdicts& verdicts) {
  if (const ExplainedOom* oom = last_fragmented(facts, &allocator)) return report_failure(facts, *oom, verdicts);
  const SegmentUse& use = allocator.use;
  const std::int64_t free_bytes = use.free_in_used_segments_bytes;
  if (free_bytes < kNotableBytes || share_of(free_bytes, use.reserved_bytes.all) < kNotableShare) return;
  if (!has_recorded(allocator)) {
    return skip(
        verdicts,
        N_("{free} lie free between live blocks of {device}. Whether a request fits in them cannot be told: the "
           "snapshot has no log."),
        {{"free", bytes_value(free_bytes)}, {"device", text_value(allocator.device->name())}});
  }
  const std::optional<LargeRequest> request =
      largest_passing_request(allocator.replay, allocator.device->log.size() / 2);
  if (!request || request->bytes <= use.largest_free_block_bytes || request->bytes > free_bytes) return;
  report_likely(facts, allocator, *request, verdicts);
}

// Whether a message or a sample of a log has the figures.
bool tells_pieces(Facts& facts) {
  const std::vector<TableFigures> tables = table_figures(facts.source());
  return std::any_of(facts.ooms().begin(), facts.ooms().end(),
                     [](const ExplainedOom& oom) { return oom.verdict.unallocated_bytes.has_value(); }) ||
         std::any_of(tables.begin(), tables.end(), [](const TableFigures& figures) {
           return figures.pieces_bytes.has_value() && figures.reserved_bytes.has_value();
         });
}

void check(Facts& facts, Verdicts& verdicts) {
  if (facts.source().memory_state && !has_memory(facts.allocators())) {
    return skip(verdicts,
                N_("The snapshot holds no memory of any device; take it in the process that uses the device."));
  }
  if (!facts.source().memory_state && !tells_pieces(facts)) {
    return skip(verdicts, N_("Nothing in the file tells how much is reserved and not allocated."));
  }
  for (const AllocatorFacts& allocator : facts.allocators()) {
    if (allocator.device->index >= 0) check_allocator(facts, allocator, verdicts);
  }
  check_samples(facts.source(), verdicts);
  // Of messages the last: the others are attempts of the same run.
  if (const ExplainedOom* oom = last_fragmented(facts, nullptr)) report_failure(facts, *oom, verdicts);
}

}  // namespace

Rule rule_fragmentation() {
  return {"fragmentation", N_("free memory that is in pieces too small to be used"), check,
          Input::snapshot | Input::samples | Input::messages};
}

}  // namespace vramscope
