#include "rules/growth_of_logs.h"

#include <algorithm>
#include <string>
#include <utility>

#include "analysis/allocator_live.h"
#include "analysis/card_memory.h"
#include "analysis/level_growth.h"
#include "analysis/memory_sums.h"
#include "analysis/process_series.h"
#include "rules/arguments.h"
#include "rules/stack_places.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr double kNanosecondsPerHour = 3.6e12;
constexpr std::size_t kStacksShown = 5;
constexpr std::size_t kFewestSnapshots = 3;
// Where no times are known: growth of less than this part of what is there may never matter.
constexpr double kNotableGrowth = 0.1;

double share_of(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string card_name(std::int32_t index) {
  return index < 0 ? "host" : "cuda:" + std::to_string(index);
}

void add_leak_advice(Finding& finding) {
  finding.fix =
      N_("Look for what the program keeps from step to step: a list, a dictionary, an attribute or a closure that "
         "gets a tensor in every step. Keep a number or a detached copy on the CPU instead, and drop what is "
         "no longer needed.");
  finding.fix_code =
      "losses.append(loss.item())             # not: losses.append(loss)\n"
      "outputs.append(output.detach().cpu())  # not: outputs.append(output)";
}

Message where_lines(const SampleSeries& series, std::size_t first) {
  return {N_("{device}, lines {first} to {last}"),
          {{"device", text_value(card_name(series.device))},
           {"first", {series.samples[first]->line, Unit::none}},
           {"last", {series.samples.back()->line, Unit::none}}}};
}

std::optional<double> hourly(const SampleSeries& series, const LevelGrowth& growth) {
  if (series.time_between_ns <= 0) return std::nullopt;
  return static_cast<double>(growth.bytes_per_level) *
         (kNanosecondsPerHour / static_cast<double>(series.time_between_ns));
}

// A tenth of what was there, or the same growth again and again, which no cache that fills shows.
Severity severity_without_times(const LevelGrowth& growth, std::int64_t judged) {
  constexpr std::int64_t kManySamples = 6;
  const std::int64_t before = subtract_bytes(growth.highest_bytes, growth.growth_bytes);
  const bool is_regular = judged >= kManySamples && growth.regularity >= 0.8;
  const bool is_notable = share_of(growth.growth_bytes, before) >= kNotableGrowth;
  return is_regular || is_notable ? Severity::warning : Severity::info;
}

void report_samples(Facts& facts, const SampleSeries& series, const LevelGrowth& growth, Verdicts& verdicts) {
  const std::optional<double> per_hour = hourly(series, growth);
  const std::optional<std::int64_t> card = card_bytes(facts.input(), series.device);
  const auto judged = static_cast<std::int64_t>(series.samples.size() - growth.first);
  const Value rate = series.steps_between > 0 ? bytes_per_step(growth.bytes_per_level / series.steps_between)
                                              : Value{growth.bytes_per_level, Unit::bytes_per_sample};
  Finding finding;
  if (per_hour) {
    finding.severity = severity_of_growth(*per_hour, card);
  } else {
    finding.severity = severity_without_times(growth, judged);
  }
  finding.confidence = bounded_confidence(confidence_from(judged) * (0.6 + 0.4 * growth.regularity) * 0.8);
  finding.title = series.steps_between > 0 ? N_("Memory on {device} grows from step to step")
                                           : N_("Memory on {device} grows from sample to sample");
  finding.summary =
      NN_("Allocated memory on {device} rose by {growth} over {count} sample and did not fall back: {rate}. "
          "A log does not tell which tensors stay; a snapshot or a profiler trace does.",
          "Allocated memory on {device} rose by {growth} over {count} samples and did not fall back: "
          "{rate}. A log does not tell which tensors stay; a snapshot or a profiler trace does.");
  add_leak_advice(finding);
  finding.arguments = {{"device", text_value(card_name(series.device))},
                       {"growth", bytes_value(growth.growth_bytes)},
                       {"count", count_value(judged)},
                       {"rate", rate}};
  const Message where = where_lines(series, growth.first - 1);
  finding.evidence.push_back({N_("growth of allocated memory"), rate, where});
  finding.evidence.push_back({N_("growth in all these samples"), bytes_value(growth.growth_bytes), where});
  finding.evidence.push_back(
      {N_("samples that are higher than the one before"), share_value(growth.growing_share), where});
  if (per_hour) finding.evidence.push_back({N_("growth at this rate"), bytes_per_hour(*per_hour), where});
  finding.evidence.push_back({N_("most memory in use"), bytes_value(growth.highest_bytes), where});
  if (card) finding.evidence.push_back({N_("memory of the device"), bytes_value(*card), where});
  verdicts.findings.push_back(std::move(finding));
}

bool never_falls(const std::vector<std::int64_t>& level) {
  return std::adjacent_find(level.begin(), level.end(), [](auto a, auto b) { return b <= a; }) == level.end();
}

void add_grown_stacks(const ProcessSeries& series, Finding& finding) {
  const Source& last = *series.sources.back();
  std::size_t shown = 0;
  for (const StackGrowth& grown :
       growth_between(*series.sources.front(), *series.devices.front(), last, *series.devices.back())) {
    const std::int64_t bytes = subtract_bytes(grown.after_bytes, grown.before_bytes);
    if (bytes <= 0 || shown == kStacksShown) break;
    finding.evidence.push_back({N_("growth at one stack"), bytes_value(bytes), where_stack(last, grown.stack)});
    ++shown;
  }
}

void report_snapshots(const ProcessSeries& series, Verdicts& verdicts) {
  const std::int64_t growth = subtract_bytes(series.live_bytes.back(), series.live_bytes.front());
  const double share = share_of(growth, series.live_bytes.front());
  const bool is_verdict = series.sources.size() >= kFewestSnapshots;
  const auto rises = static_cast<std::int64_t>(series.sources.size() - 1);
  const std::string device = card_name(series.device);
  Finding finding;
  finding.severity = is_verdict && share >= kNotableGrowth ? Severity::warning : Severity::info;
  finding.confidence = bounded_confidence(confidence_from(rises) * (series.is_by_time ? 1.0 : 0.8));
  finding.title = is_verdict ? N_("Memory on {device} grows from snapshot to snapshot")
                             : N_("Memory on {device} is higher in the second snapshot");
  finding.summary =
      is_verdict
          ? NN_("Live memory on {device} rose from {before} to {after} over {count} snapshot, each higher than the one "
                "before.",
                "Live memory on {device} rose from {before} to {after} over {count} snapshots, each higher than the "
                "one before.")
          : N_("Live memory on {device} rose from {before} to {after}. Two snapshots may be of different moments of "
               "a step; three or more, taken at the same place of the loop, tell a leak.");
  add_leak_advice(finding);
  finding.arguments = {{"device", text_value(device)},
                       {"before", bytes_value(series.live_bytes.front())},
                       {"after", bytes_value(series.live_bytes.back())},
                       {"count", count_value(rises + 1)}};
  if (!series.is_by_time) {
    finding.details.push_back(
        {N_("The snapshots have no times, so the order is the one in which they were given."), {}});
  }
  finding.evidence.push_back({N_("growth of live memory"), bytes_value(growth), where_named(device)});
  add_grown_stacks(series, finding);
  verdicts.findings.push_back(std::move(finding));
}

}  // namespace

void check_sample_growth(Facts& facts, Verdicts& verdicts) {
  std::size_t most = 0;
  for (const SampleSeries& series : sample_series(facts.source())) {
    most = std::max(most, series.samples.size());
    if (series.samples.size() < kFewestLevels) continue;
    const LevelGrowth growth = judge_levels(series.allocated_bytes, series.resolution_bytes);
    if (growth.is_steady) report_samples(facts, series, growth, verdicts);
  }
  if (most >= kFewestLevels) return;
  skip(verdicts,
       NN_("The log holds {count} sample of allocated memory; growth is judged from {needed} on.",
           "The log holds {count} samples of allocated memory; growth is judged from {needed} on."),
       {{"count", count_value(static_cast<std::int64_t>(most))},
        {"needed", {static_cast<std::int64_t>(kFewestLevels), Unit::none}}});
}

void check_snapshot_growth(Facts& facts, Verdicts& verdicts) {
  bool is_part = false;
  bool is_last = false;
  for (const ProcessSeries& series : process_series(facts.input())) {
    const auto& sources = series.sources;
    if (std::find(sources.begin(), sources.end(), &facts.source()) == sources.end()) continue;
    is_part = true;
    if (sources.back() != &facts.source()) continue;
    is_last = true;
    if (never_falls(series.live_bytes)) report_snapshots(series, verdicts);
  }
  if (is_last) return;
  skip(verdicts, is_part
                     ? N_("Judged together with the later snapshots.")
                     : N_("One snapshot shows one moment; give three or more of the same process, in order of time."));
}

}  // namespace vramscope
