#include "analysis/table_figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "rules/rule.h"

namespace vramscope {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

AllocatorStats sample(std::int64_t line, std::int64_t ooms, std::int64_t retries, std::int64_t pieces) {
  AllocatorStats stats;
  stats.line = line;
  stats.values = {{"num_ooms", ooms},
                  {"num_alloc_retries", retries},
                  {"allocated_bytes.all.current", 20 * kGiB},
                  {"reserved_bytes.all.current", 40 * kGiB},
                  {"inactive_split_bytes.all.current", pieces}};
  return stats;
}

const Finding* finding_of(const Verdicts& verdicts, const char* rule) {
  for (const Finding& finding : verdicts.findings) {
    if (finding.rule == std::string(rule)) return &finding;
  }
  return nullptr;
}

Verdicts judge(std::vector<AllocatorStats> samples, const std::string& settings = {}, bool has_message = false) {
  Case input;
  Source& source = input.sources.emplace_back();
  source.format = "memory_log";
  source.allocator_stats = std::move(samples);
  if (!settings.empty()) source.environment.settings["PYTORCH_CUDA_ALLOC_CONF"] = settings;
  if (has_message) {
    OutOfMemory event;
    event.framework = "pytorch";
    event.device = 0;
    event.text = "CUDA out of memory";
    source.out_of_memory.push_back(event);
  }
  return diagnose(input);
}

TEST(TableFigures, CountersRiseAndBeginAnew) {
  Source source;
  source.allocator_stats = {sample(1, 1, 5, kGiB), sample(50, 3, 5, 18 * kGiB), sample(99, 3, 5, 2 * kGiB),
                            sample(150, 1, 0, kGiB)};
  const std::vector<TableFigures> all = table_figures(source);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].ooms.last, 1);
  EXPECT_EQ(all[0].ooms.rise, 3);  // two more, and one of a new process
  EXPECT_EQ(all[0].retries.rise, 0);
  EXPECT_EQ(all[0].line, 150);
  EXPECT_EQ(all[0].pieces_bytes, kGiB);
  source.allocator_stats.pop_back();
  EXPECT_EQ(table_figures(source)[0].line, 50);  // when it failed, not when it was over
  EXPECT_TRUE(is_in_pieces(table_figures(source)[0]));
}

TEST(TableRules, FailuresThatTheTablesCount) {
  const Verdicts one = judge({sample(1, 1, 0, 0)});
  const Finding* finding = finding_of(one, "out-of-memory");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::error);
  EXPECT_EQ(finding_of(judge({sample(1, 0, 4, 0), sample(9, 0, 4, 0)}), "out-of-memory"), nullptr);
  // A message explains the failure better.
  const Verdicts told = judge({sample(1, 1, 0, 0)}, {}, true);
  EXPECT_EQ(std::count_if(told.findings.begin(), told.findings.end(),
                          [](const Finding& each) { return each.rule == std::string("out-of-memory"); }),
            1);
  EXPECT_NE(std::string(finding_of(told, "out-of-memory")->title).find("Out of memory"), std::string::npos);
  AllocatorStats uncounted = sample(1, 0, 0, 0);
  uncounted.values.erase("num_ooms");
  const Verdicts none = judge({uncounted});
  EXPECT_TRUE(std::any_of(none.skipped.begin(), none.skipped.end(),
                          [](const Skipped& each) { return each.rule == std::string("out-of-memory"); }));
}

TEST(TableRules, PiecesWhileRequestsFindNoRoom) {
  const Verdicts verdicts = judge({sample(1, 0, 0, 18 * kGiB), sample(9, 0, 3, 18 * kGiB)});
  const Finding* finding = finding_of(verdicts, "fragmentation");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::warning);
  EXPECT_DOUBLE_EQ(finding->confidence, 0.8);
  EXPECT_EQ(finding->evidence.front().value.unit, Unit::share);
  // No request missed; little lies between blocks; it can be joined as it is.
  EXPECT_EQ(finding_of(judge({sample(1, 0, 3, 18 * kGiB), sample(9, 0, 3, 18 * kGiB)}), "fragmentation"), nullptr);
  EXPECT_EQ(finding_of(judge({sample(1, 0, 0, kGiB), sample(9, 0, 3, kGiB)}), "fragmentation"), nullptr);
  EXPECT_EQ(finding_of(judge({sample(1, 0, 0, 18 * kGiB), sample(9, 0, 3, 18 * kGiB)}, "expandable_segments:True"),
                       "fragmentation"),
            nullptr);
}

}  // namespace
}  // namespace vramscope
