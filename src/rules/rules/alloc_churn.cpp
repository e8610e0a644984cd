// Memory that is given back to the driver and taken again in the loop (docs/rules/alloc-churn.md).
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analysis/level_growth.h"
#include "analysis/memory_sums.h"
#include "analysis/segment_churn.h"
#include "rule_table.h"
#include "rules/arguments.h"
#include "rules/stack_places.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

using Settings = std::map<std::string, std::string>;

constexpr std::int64_t kFewestRounds = 3;
constexpr double kNegligibleShare = 0.005;  // of the time; less is info

Message sentence_of(const char* id) {
  return {id, {}};
}

std::vector<Message> advice(ReleaseCause cause, const std::map<std::string, std::string>& settings) {
  std::vector<Message> all;
  if (cause == ReleaseCause::empty_cache) {
    all.push_back(
        sentence_of(N_("Take torch.cuda.empty_cache() out of the loop: the allocator reuses what is free by "
                       "itself, and gives it back by itself before an allocation fails.")));
    return all;
  }
  all.push_back(
      sentence_of(N_("The memory is nearly full in every step: use a smaller batch, or compute activations "
                     "again in the backward pass (torch.utils.checkpoint).")));
  if (!has_expandable_segments(settings)) {
    all.push_back(
        sentence_of(N_("Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True before the program starts, so "
                       "that free pieces can be joined.")));
    const auto threshold = settings.find("garbage_collection_threshold");
    if (threshold == settings.end() || threshold->second == "0" || threshold->second == "0.0") {
      all.push_back(
          sentence_of(N_("Where a limit is set for the process, garbage_collection_threshold:0.8 gives back "
                         "old blocks one by one instead of all at once.")));
    }
  }
  return all;
}

const char* summary_of(ReleaseCause cause) {
  switch (cause) {
    case ReleaseCause::empty_cache:
      return NN_(
          "torch.cuda.empty_cache() is called again and again: {count} time in this log memory was given back to the "
          "driver "
          "and taken again soon after, {bytes} in all. Each time the program waits for the device.",
          "torch.cuda.empty_cache() is called again and again: {count} times in this log memory was given back to the "
          "driver "
          "and taken again soon after, {bytes} in all. Each time the program waits for the device.");
    case ReleaseCause::retry:
      return NN_(
          "{count} time in this log an allocation found no room, so the allocator gave back what it had free and took "
          "memory "
          "anew, {bytes} in all. Each time the program waits for the device.",
          "{count} times in this log an allocation found no room, so the allocator gave back what it had free and took "
          "memory "
          "anew, {bytes} in all. Each time the program waits for the device.");
    case ReleaseCause::unknown:
      break;
  }
  return NN_(
      "{count} time in this log memory was given back to the driver and taken again soon after, {bytes} in all. Each "
      "time the "
      "program waits for the device.",
      "{count} times in this log memory was given back to the driver and taken again soon after, {bytes} in all. Each "
      "time "
      "the program waits for the device.");
}

// The cause of most rounds.
ReleaseCause main_cause(const SegmentRounds& found) {
  const auto count = [&](ReleaseCause cause) {
    return std::count_if(found.rounds.begin(), found.rounds.end(),
                         [&](const ReleaseRound& round) { return round.cause == cause; });
  };
  const auto half = static_cast<std::ptrdiff_t>((found.rounds.size() + 1) / 2);
  if (count(ReleaseCause::empty_cache) >= half) return ReleaseCause::empty_cache;
  return count(ReleaseCause::retry) >= half ? ReleaseCause::retry : ReleaseCause::unknown;
}

void check_allocator(Facts& facts, const AllocatorFacts& allocator, Verdicts& verdicts) {
  const SegmentRounds found = segment_rounds(facts.source(), *allocator.device);
  const std::size_t entries = allocator.device->log.size();
  // What happens in the first half alone may be a warm-up.
  if (found.repeated < kFewestRounds || found.rounds.back().last < entries / 2) return;
  const bool is_timed = found.time_ns != kUnknown && found.log_ns != kUnknown && found.log_ns > 0;
  const double share =
      is_timed ? static_cast<double>(found.time_ns) / static_cast<double>(found.log_ns) : kNegligibleShare;
  const ReleaseCause cause = main_cause(found);
  const std::string device = allocator.device->name();
  Finding finding;
  finding.severity = share < kNegligibleShare ? Severity::info : Severity::warning;
  finding.confidence = bounded_confidence(confidence_from(found.repeated) * (cause == ReleaseCause::unknown ? 0.7 : 1));
  finding.title = N_("Memory on {device} goes back to the driver and is taken again in the loop");
  finding.summary = summary_of(cause);
  finding.arguments = {{"device", text_value(device)},
                       {"count", count_value(found.repeated)},
                       {"bytes", bytes_value(found.repeated_bytes)}};
  finding.fixes = advice(cause, facts.source().memory_state->settings);
  const ReleaseRound& round = found.rounds.back();
  const Message where = {N_("{device}, entries {first} to {last} of the log"),
                         {{"device", text_value(device)},
                          {"first", {static_cast<std::int64_t>(found.rounds.front().first), Unit::none}},
                          {"last", {static_cast<std::int64_t>(round.last), Unit::none}}}};
  finding.evidence.push_back({N_("rounds of giving back and taking again"), count_value(found.repeated), where});
  finding.evidence.push_back({N_("given back and taken again"), bytes_value(found.repeated_bytes), where});
  finding.evidence.push_back(
      {N_("given back in the last round"), bytes_value(round.freed_bytes), where_stack(facts.source(), round.stack)});
  if (is_timed) {
    finding.evidence.push_back({N_("time of giving back alone, at least"), time_value(found.time_ns), where});
  }
  verdicts.findings.push_back(std::move(finding));
}

// Between how many samples a counter of the driver's calls rises, and by how much in all.
struct Rises {
  std::int64_t known = 0;  // samples that have it
  std::int64_t intervals = 0;
  std::int64_t rising = 0;
  std::int64_t total = 0;
};

Rises rises_of(const SampleSeries& series, const char* name) {
  Rises rises;
  std::optional<std::int64_t> before;
  for (const AllocatorStats* sample : series.samples) {
    const auto value = sample->values.find(name);
    if (value == sample->values.end()) continue;
    ++rises.known;
    if (before) {
      ++rises.intervals;
      const std::int64_t rise = subtract_bytes(value->second, *before);
      if (rise > 0) {
        ++rises.rising;
        rises.total = add_bytes(rises.total, rise);
      }
    }
    before = value->second;
  }
  return rises;
}

Message where_samples(const SampleSeries& series) {
  return {N_("{device}, lines {first} to {last}"),
          {{"device", text_value("cuda:" + std::to_string(series.device))},
           {"first", {series.samples.front()->line, Unit::none}},
           {"last", {series.samples.back()->line, Unit::none}}}};
}

void report_samples(const SampleSeries& series, const Rises& rises, const Rises& taken, const Rises& given,
                    bool is_retry, const Settings& settings, Verdicts& verdicts) {
  Finding finding;
  const Rises& counted = is_retry ? rises : given;
  const bool goes_on = counted.rising >= 2;
  finding.severity = goes_on ? Severity::warning : Severity::info;
  finding.confidence = bounded_confidence(confidence_from(counted.rising));
  finding.title = is_retry ? N_("Allocations on {device} find no room and are tried again")
                           : N_("Memory on {device} goes back to the driver and is taken again in the loop");
  finding.summary =
      is_retry
          ? NN_("Between the first and the last sample {count} allocation found no room, so the allocator gave back "
                "what "
                "it had free and asked the driver again. Each time the program waits for the device.",
                "Between the first and the last sample {count} allocations found no room, so the allocator gave back "
                "what it had free and asked the driver again. Each time the program waits for the device.")
          : NN_("Between the first and the last sample {count} segment was given back to the driver and taken again. "
                "Each "
                "time the program waits for the device. torch.cuda.empty_cache() in the loop does this.",
                "Between the first and the last sample {count} segments were given back to the driver and taken again. "
                "Each time the program waits for the device. torch.cuda.empty_cache() in the loop does this.");
  finding.arguments = {{"device", text_value("cuda:" + std::to_string(series.device))},
                       {"count", count_value(counted.total)}};
  finding.fixes = advice(is_retry ? ReleaseCause::retry : ReleaseCause::empty_cache, settings);
  const Message where = where_samples(series);
  if (rises.known > 0) finding.evidence.push_back({N_("rise of num_alloc_retries"), count_value(rises.total), where});
  finding.evidence.push_back({N_("samples that are higher than the one before"), count_value(counted.rising), where});
  if (taken.total > 0) finding.evidence.push_back({N_("segments taken"), count_value(taken.total), where});
  if (given.total > 0) finding.evidence.push_back({N_("segments given back"), count_value(given.total), where});
  verdicts.findings.push_back(std::move(finding));
}

// `settings`: what the log shows to be in force.
bool check_samples(const SampleSeries& series, const Settings& settings, Verdicts& verdicts) {
  const Rises retries = rises_of(series, "num_alloc_retries");
  const Rises taken = rises_of(series, "segment.all.allocated");
  const Rises given = rises_of(series, "segment.all.freed");
  if (retries.intervals == 0 && given.intervals == 0) return false;
  if (retries.total > 0) {
    report_samples(series, retries, taken, given, true, settings, verdicts);
  } else if (given.rising >= kFewestRounds && given.rising * 2 >= given.intervals &&
             taken.rising * 2 >= taken.intervals) {
    report_samples(series, retries, taken, given, false, settings, verdicts);
  }
  return true;
}

void check(Facts& facts, Verdicts& verdicts) {
  bool could_look = false;
  for (const AllocatorFacts& allocator : facts.allocators()) {
    if (!has_recorded(allocator)) continue;
    could_look = true;
    check_allocator(facts, allocator, verdicts);
  }
  for (const SampleSeries& series : sample_series(facts.source())) {
    if (check_samples(series, facts.source().environment.settings, verdicts)) could_look = true;
  }
  if (could_look) return;
  skip(verdicts,
       facts.source().memory_state
           ? N_("The snapshot logs no allocation; record with torch.cuda.memory._record_memory_history().")
           : N_("At least two samples that count the driver's calls (num_alloc_retries, segments) are needed."));
}

}  // namespace

Rule rule_alloc_churn() {
  return {"alloc-churn", N_("memory that goes back to the driver and is taken again in the loop"), check,
          Input::snapshot | Input::samples};
}

}  // namespace vramscope
