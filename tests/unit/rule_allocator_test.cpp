// Rules about snapshots, logs and out-of-memory messages: when they fire, and what looks alike and is healthy.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "allocator_log.h"
#include "report/findings.h"
#include "rule_recording.h"

namespace vramscope {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kGiB = 1 << 30;

Source snapshot_of(LogMaker log, std::map<std::string, std::string> settings = {}) {
  Source source;
  source.path = "a.pickle";
  source.memory_state.emplace();
  source.memory_state->devices.push_back(std::move(log.device));
  source.memory_state->settings = std::move(settings);
  return source;
}

OutOfMemory failure(std::int64_t asked, std::int64_t free, std::int64_t total) {
  OutOfMemory event;
  event.framework = "pytorch";
  event.device = 0;
  event.asked_bytes = asked;
  event.free_bytes = free;
  event.total_bytes = total;
  return event;
}

Source log_of(const OutOfMemory& event) {
  Source source;
  source.path = "error.txt";
  source.out_of_memory.push_back(event);
  return source;
}

Source samples_of(const std::vector<std::map<std::string, std::int64_t>>& samples, std::int64_t resolution = 1) {
  Source source;
  source.path = "train.log";
  for (std::size_t i = 0; i < samples.size(); ++i) {
    AllocatorStats stats;
    stats.line = static_cast<std::int64_t>(i) * 10 + 1;
    stats.values = samples[i];
    stats.resolution_bytes = resolution;
    source.allocator_stats.push_back(stats);
  }
  return source;
}

Source allocated(const std::vector<std::int64_t>& levels, std::int64_t resolution = 1) {
  std::vector<std::map<std::string, std::int64_t>> samples;
  for (const std::int64_t level : levels) samples.push_back({{"allocated_bytes.all.current", level}});
  return samples_of(samples, resolution);
}

// A process that keeps 6 GiB and uses one.
LogMaker idle_process() {
  LogMaker log;
  log.segment(0x1000).block(BlockState::allocated, kGiB, kGiB);
  log.segment(0x10000000000).block(BlockState::free, 5 * kGiB);
  return log;
}

// What a rule says of the source at `index` of a case.
Verdicts verdicts_in(const char* id, const Case& input, std::size_t index) {
  Verdicts verdicts;
  Facts facts(input, input.sources[index]);
  for (const Rule& rule : rules()) {
    if (std::string_view(rule.id) == id) run_rule(rule, facts, verdicts);
  }
  return verdicts;
}

std::string fixes_of(const Finding& finding) {
  std::string all = sentence(finding.fix, finding.arguments, Wording::english);
  for (const Message& fix : finding.fixes) all += sentence(fix.id, fix.arguments, Wording::english) + "\n";
  return all;
}

// Free pieces of `hole` bytes in four segments, each cut by a small live block; the loop asks for `request`.
LogMaker holes(std::int64_t hole, std::int64_t request) {
  LogMaker log;
  for (std::uint64_t i = 0; i < 4; ++i) {
    log.segment(0x10000000000 * (i + 1));
    log.block(BlockState::free, hole).block(BlockState::allocated, 2 * kMiB, 2 * kMiB).block(BlockState::free, hole);
  }
  for (int i = 0; i < 4; ++i) log.alloc(0x900, request).free(0x900, request);
  return log;
}

TEST(Fragmentation, FiresWhereTheRequestOfTheLoopNoLongerFits) {
  const Verdicts verdicts = verdicts_of("fragmentation", snapshot_of(holes(2 * kGiB, 3 * kGiB)));
  ASSERT_EQ(verdicts.findings.size(), 1u);
  EXPECT_EQ(verdicts.findings[0].severity, Severity::warning);
  EXPECT_NE(fixes_of(verdicts.findings[0]).find("expandable_segments:True"), std::string::npos);
}

TEST(Fragmentation, NeverAdvisesWhatIsInForce) {
  const Source source = snapshot_of(holes(2 * kGiB, 3 * kGiB), {{"expandable_segments", "True"}});
  const Verdicts verdicts = verdicts_of("fragmentation", source);
  ASSERT_EQ(verdicts.findings.size(), 1u);
  EXPECT_EQ(fixes_of(verdicts.findings[0]).find("PYTORCH_CUDA_ALLOC_CONF"), std::string::npos);
}

TEST(Fragmentation, SilentWhereTheRequestFits) {
  EXPECT_TRUE(is_silent(verdicts_of("fragmentation", snapshot_of(holes(2 * kGiB, 2 * kGiB)))));
}

TEST(Fragmentation, SilentOnWhollyFreeSegments) {
  LogMaker log;
  for (std::uint64_t i = 0; i < 4; ++i) log.segment(0x10000000000 * (i + 1)).block(BlockState::free, 2 * kGiB);
  log.segment(0x1000).block(BlockState::allocated, kGiB);
  log.alloc(0x900, 3 * kGiB).free(0x900, 3 * kGiB);
  EXPECT_TRUE(is_silent(verdicts_of("fragmentation", snapshot_of(std::move(log)))));
}

TEST(Fragmentation, SkippedWhereNothingTellsWhatIsAskedFor) {
  LogMaker log = holes(2 * kGiB, 3 * kGiB);
  log.device.log = {};
  EXPECT_TRUE(is_skipped(verdicts_of("fragmentation", snapshot_of(std::move(log)))));
}

TEST(Fragmentation, FromAMessageAlone) {
  OutOfMemory event = failure(2 * kGiB, 0, 8 * kGiB);
  event.allocated_bytes = 4 * kGiB;
  event.reserved_bytes = 7 * kGiB;
  EXPECT_EQ(verdicts_of("fragmentation", log_of(event)).findings.size(), 1u);
  event.reserved_bytes = 5 * kGiB;  // a hole of a gibibyte at most
  EXPECT_TRUE(is_silent(verdicts_of("fragmentation", log_of(event))));
}

TEST(OutOfMemoryRule, EqualFailuresAreOneFinding) {
  Source source = log_of(failure(kGiB, 0, 8 * kGiB));
  source.out_of_memory.push_back(failure(2 * kGiB, 0, 8 * kGiB));
  source.out_of_memory.push_back(failure(kGiB, 0, 24 * kGiB));  // another card
  const Verdicts verdicts = verdicts_of("out-of-memory", source);
  ASSERT_EQ(verdicts.findings.size(), 2u);
  EXPECT_EQ(std::get<std::int64_t>(verdicts.findings[0].evidence[0].value.data), 2 * kGiB);
  EXPECT_EQ(verdicts.findings[0].severity, Severity::error);
}

TEST(OutOfMemoryRule, HostMemoryIsNotTheCards) {
  OutOfMemory event;
  event.framework = "linux";
  const Verdicts verdicts = verdicts_of("out-of-memory", log_of(event));
  ASSERT_EQ(verdicts.findings.size(), 1u);
  EXPECT_STREQ(verdicts.findings[0].title, "Out of host memory");
}

TEST(OutOfMemoryRule, SkippedOnASnapshotWithoutALog) {
  EXPECT_TRUE(is_skipped(verdicts_of("out-of-memory", snapshot_of(idle_process()))));
  LogMaker note = idle_process();
  note.entry(AllocatorAction::snapshot, kUnknownAddress, 0);  // says only that it was taken
  EXPECT_TRUE(is_skipped(verdicts_of("out-of-memory", snapshot_of(std::move(note)))));
  LogMaker log = idle_process();
  log.alloc(0x1000, kGiB);
  EXPECT_TRUE(is_silent(verdicts_of("out-of-memory", snapshot_of(std::move(log)))));
}

Case two_processes(const OutOfMemory& event) {
  Case input;
  input.sources.push_back(snapshot_of(idle_process()));
  input.sources.push_back(log_of(event));
  return input;
}

TEST(CachedIdle, FiresForTheProcessThatTheMessageNames) {
  OutOfMemory event = failure(2 * kGiB, 0, 8 * kGiB);
  event.others = {{42, 6 * kGiB + 400 * kMiB}};
  const Verdicts verdicts = verdicts_in("cached-idle", two_processes(event), 1);
  ASSERT_EQ(verdicts.findings.size(), 1u);
  EXPECT_EQ(verdicts.findings[0].severity, Severity::warning);
}

TEST(CachedIdle, SilentWhereTheNamedProcessIsNotThisOne) {
  OutOfMemory event = failure(2 * kGiB, 0, 8 * kGiB);
  event.others = {{42, 2 * kGiB}};  // less than is reserved
  EXPECT_TRUE(is_silent(verdicts_in("cached-idle", two_processes(event), 1)));
}

TEST(CachedIdle, SilentWhereTheIdlePartIsNotEnough) {
  OutOfMemory event = failure(7 * kGiB, 0, 24 * kGiB);
  event.others = {{42, 6 * kGiB + 400 * kMiB}};
  EXPECT_TRUE(is_silent(verdicts_in("cached-idle", two_processes(event), 1)));
}

TEST(CachedIdle, SilentOnTheSameProcess) {
  OutOfMemory event = failure(2 * kGiB, kGiB, 8 * kGiB);
  event.allocated_bytes = 5 * kGiB;
  event.reserved_bytes = 6 * kGiB;
  EXPECT_TRUE(is_silent(verdicts_in("cached-idle", two_processes(event), 1)));
}

TEST(CachedIdle, InfoWhereNothingTellsThatTheyShareTheCard) {
  OutOfMemory event;
  event.device = 0;
  event.asked_bytes = 2 * kGiB;
  const Verdicts verdicts = verdicts_in("cached-idle", two_processes(event), 1);
  ASSERT_EQ(verdicts.findings.size(), 1u);
  EXPECT_EQ(verdicts.findings[0].severity, Severity::info);
}

TEST(CachedIdle, SkippedOnOneFile) {
  EXPECT_TRUE(is_skipped(verdicts_of("cached-idle", log_of(failure(2 * kGiB, 0, 8 * kGiB)))));
}

// `rounds` times a segment is given back and another taken; `between` entries of other work lie between the two.
LogMaker rounds(int count, int between) {
  LogMaker log;
  for (int i = 0; i < count; ++i) {
    log.entry(AllocatorAction::segment_alloc, 0x1000, kGiB);
    log.alloc(0x1000, kGiB).free(0x1000, kGiB);
    log.entry(AllocatorAction::segment_free, 0x1000, kGiB);
    for (int k = 0; k < between; ++k) log.alloc(0x2000, kMiB).free(0x2000, kMiB);
  }
  return log;
}

TEST(AllocChurn, RetriesAndOthers) {
  const Verdicts retries = verdicts_of("alloc-churn", snapshot_of(rounds(6, 0)));
  ASSERT_EQ(retries.findings.size(), 1u);
  EXPECT_EQ(retries.findings[0].severity, Severity::warning);
  EXPECT_NE(fixes_of(retries.findings[0]).find("smaller batch"), std::string::npos);
  EXPECT_EQ(std::get<std::int64_t>(retries.findings[0].evidence[0].value.data), 5);  // nothing is taken after the last
  EXPECT_EQ(verdicts_of("alloc-churn", snapshot_of(rounds(6, 4))).findings.size(), 1u);
}

TEST(AllocChurn, SilentOnFewRoundsAndOnAWarmUp) {
  EXPECT_TRUE(is_silent(verdicts_of("alloc-churn", snapshot_of(rounds(3, 0)))));
  LogMaker log = rounds(6, 0);
  for (int i = 0; i < 60; ++i) log.alloc(0x2000, kMiB).free(0x2000, kMiB);
  EXPECT_TRUE(is_silent(verdicts_of("alloc-churn", snapshot_of(std::move(log)))));
}

TEST(AllocChurn, RetriesThatRiseInALog) {
  std::vector<std::map<std::string, std::int64_t>> samples;
  for (const std::int64_t retries : {3, 3, 4, 6}) {
    samples.push_back({{"allocated_bytes.all.current", kGiB}, {"num_alloc_retries", retries}});
  }
  const Verdicts rising = verdicts_of("alloc-churn", samples_of(samples));
  ASSERT_EQ(rising.findings.size(), 1u);
  EXPECT_EQ(rising.findings[0].severity, Severity::warning);
  for (auto& sample : samples) sample["num_alloc_retries"] = 3;  // once, before the first sample
  EXPECT_TRUE(is_silent(verdicts_of("alloc-churn", samples_of(samples))));
}

TEST(AllocChurn, SkippedWithoutALogOrCounters) {
  EXPECT_TRUE(is_skipped(verdicts_of("alloc-churn", snapshot_of(idle_process()))));
  EXPECT_TRUE(is_skipped(verdicts_of("alloc-churn", allocated({1, 2, 3}))));
}

TEST(DominantStack, NamesThePlaceThatHoldsMost) {
  Source source;
  const StackId cache = add_stack(source, {"/home/me/train.py(3): main", "/home/me/cache.py(9): keep"});
  LogMaker log;
  log.segment(0x1000).block(BlockState::allocated, kGiB, kGiB, cache).block(BlockState::allocated, kGiB / 2, kGiB / 2);
  source.path = "a.pickle";
  source.memory_state.emplace();
  source.memory_state->devices.push_back(std::move(log.device));
  const Verdicts verdicts = verdicts_of("dominant-stack", source);
  ASSERT_EQ(verdicts.findings.size(), 1u);
  EXPECT_EQ(verdicts.findings[0].severity, Severity::info);
  const Message& where = verdicts.findings[0].evidence[0].where;
  EXPECT_EQ(sentence(where.id, where.arguments, Wording::english), "/home/me/cache.py(9): keep");
}

TEST(DominantStack, SilentWhereNoStackWasRecorded) {
  EXPECT_TRUE(is_silent(verdicts_of("dominant-stack", snapshot_of(idle_process()))));
}

TEST(DominantStack, BlocksOfOneSizeThatPileUp) {
  LogMaker log;
  const auto pile_up = [](LogMaker& made) {
    for (std::uint64_t i = 0; i < 64; ++i) made.alloc(0x1000 + i, 4 * kMiB).alloc(0x9000, kMiB).free(0x9000, kMiB);
  };
  LogMaker cache;
  pile_up(cache);
  EXPECT_EQ(verdicts_of("dominant-stack", snapshot_of(std::move(cache))).findings.size(), 1u);
  pile_up(log);
  for (std::uint64_t i = 0; i < 64; ++i) log.free(0x1000 + i, 4 * kMiB);  // the end of the step
  EXPECT_TRUE(is_silent(verdicts_of("dominant-stack", snapshot_of(std::move(log)))));
}

TEST(MemoryGrowth, OfSamplesInALog) {
  const Verdicts verdicts = verdicts_of("memory-growth", allocated({100, 120, 140, 160, 180}));
  ASSERT_EQ(verdicts.findings.size(), 1u);
  EXPECT_EQ(verdicts.findings[0].severity, Severity::warning);
  EXPECT_EQ(verdicts.findings[0].evidence[0].value.unit, Unit::bytes_per_sample);
  EXPECT_EQ(std::get<std::int64_t>(verdicts.findings[0].evidence[0].value.data), 20);
}

TEST(MemoryGrowth, SamplesThatWarmUpStayOrFallBack) {
  EXPECT_TRUE(is_silent(verdicts_of("memory-growth", allocated({100, 900, 900, 900, 900, 900}))));
  EXPECT_TRUE(is_silent(verdicts_of("memory-growth", allocated({100, 160, 180, 190, 195, 196}))));
  EXPECT_TRUE(is_silent(verdicts_of("memory-growth", allocated({100, 140, 120, 160, 130, 170}))));
}

TEST(MemoryGrowth, BelowWhatATableCanShowIsNoGrowth) {
  EXPECT_TRUE(is_silent(verdicts_of("memory-growth", allocated({100, 101, 102, 103, 104}, 1024))));
}

TEST(MemoryGrowth, AStepIsCountedOnce) {
  Source source = allocated({100, 120, 140, 160, 180, 200});
  std::int64_t step = 0;
  for (AllocatorStats& sample : source.allocator_stats) sample.step = step += 10;
  const Verdicts verdicts = verdicts_of("memory-growth", source);
  ASSERT_EQ(verdicts.findings.size(), 1u);
  EXPECT_EQ(verdicts.findings[0].evidence[0].value.unit, Unit::bytes_per_step);
  EXPECT_EQ(std::get<std::int64_t>(verdicts.findings[0].evidence[0].value.data), 2);
}

TEST(MemoryGrowth, TooFewSamplesAreSkipped) {
  EXPECT_TRUE(is_skipped(verdicts_of("memory-growth", allocated({100, 200, 300}))));
}

Case snapshots_of(const std::vector<std::int64_t>& levels, bool same_process = true) {
  Case input;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    LogMaker log;
    log.segment(same_process ? 0x1000 : 0x1000 * (i + 1)).block(BlockState::allocated, levels[i], levels[i]);
    input.sources.push_back(snapshot_of(std::move(log)));
  }
  return input;
}

TEST(MemoryGrowth, OfSnapshots) {
  const Verdicts three = verdicts_in("memory-growth", snapshots_of({100, 200, 300}), 2);
  ASSERT_EQ(three.findings.size(), 1u);
  EXPECT_EQ(three.findings[0].severity, Severity::warning);
  EXPECT_TRUE(is_skipped(verdicts_in("memory-growth", snapshots_of({100, 200, 300}), 0)));
  const Verdicts two = verdicts_in("memory-growth", snapshots_of({100, 200}), 1);
  ASSERT_EQ(two.findings.size(), 1u);
  EXPECT_EQ(two.findings[0].severity, Severity::info);
}

TEST(MemoryGrowth, SnapshotsThatFallOrAreOfOtherProcesses) {
  EXPECT_TRUE(is_silent(verdicts_in("memory-growth", snapshots_of({100, 300, 200}), 2)));
  EXPECT_TRUE(is_skipped(verdicts_in("memory-growth", snapshots_of({100, 200, 300}, false), 2)));
}

TEST(Rules, AnotherKindOfFileIsSkippedAsSuch) {
  const Verdicts verdicts = verdicts_of("graph-kept", snapshot_of(idle_process()));
  ASSERT_EQ(verdicts.skipped.size(), 1u);
  EXPECT_TRUE(verdicts.skipped[0].is_other_kind);
  Source timeline;
  timeline.memory_timeline.emplace();
  Case input;
  input.sources.push_back(std::move(timeline));
  for (const Skipped& skipped : diagnose(input).skipped) EXPECT_TRUE(skipped.is_other_kind) << skipped.rule;
}

TEST(Rules, HostileSizesDoNotOverflow) {
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  const auto hostile = [] {
    LogMaker log;
    log.segment(0xfffffffffffff000).block(BlockState::allocated, kHuge / 2, kHuge);
    log.segment(0x1000).block(BlockState::free, kHuge / 2).block(BlockState::allocated, kHuge / 4, kHuge);
    for (int i = 0; i < 70; ++i) log.alloc(0xffffffffffffff00, kHuge).free(0xffffffffffffff00, kHuge);
    log.entry(AllocatorAction::segment_free, 0x1000, kHuge).entry(AllocatorAction::oom, kUnknownAddress, kHuge);
    return snapshot_of(std::move(log));
  };
  Case input;
  input.sources.push_back(hostile());
  input.sources.push_back(log_of(failure(kHuge, kHuge, kHuge)));
  input.sources.push_back(allocated({0, kHuge, 0, kHuge, -kHuge, kHuge}));
  input.sources.push_back(hostile());
  EXPECT_FALSE(findings_json(input, diagnose(input)).empty());
}

}  // namespace
}  // namespace vramscope
