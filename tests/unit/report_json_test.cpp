#include <gtest/gtest.h>

#include <limits>

#include "report/findings.h"
#include "report/json.h"
#include "report/sum_limits.h"
#include "text/catalogue.h"

namespace vramscope {
namespace {

TEST(JsonWriterTest, EscapesEveryControlCharacter) {
  JsonWriter json;
  json.begin_object().member("k\x7f", "a\x1b\xc2\x9b\"\\\n\xc2\xa0z").end_object();
  EXPECT_EQ(json.text(), "{\"k\\u007f\":\"a\\u001b\\u009b\\\"\\\\\\u000a\xc2\xa0z\"}\n");
}

TEST(JsonWriterTest, LeavesOtherTextAsItIs) {
  JsonWriter json;
  json.begin_array().value("显存 é").end_array();
  EXPECT_EQ(json.text(), "[\"显存 é\"]\n");
}

TEST(SentenceTest, TheFirstCountChoosesTheForm) {
  const char* const id = NN_("Only {steps} step of {needed}", "Only {steps} steps of {needed}");
  const auto with = [&](std::int64_t steps) {
    return sentence(id, {{"needed", {std::int64_t{4}, Unit::count}}, {"steps", {steps, Unit::count}}},
                    Wording::english);
  };
  EXPECT_EQ(with(1), "Only 1 step of 4");
  EXPECT_EQ(with(0), "Only 0 steps of 4");
  EXPECT_EQ(with(2), "Only 2 steps of 4");
}

TEST(SumLimitsTest, CountsSumsThatHitTheEnd) {
  OpsResult result;
  result.table.rows.resize(2);
  EXPECT_EQ(clamped_sums(result), 0);
  result.table.rows[1].totals.self_cpu_bytes = std::numeric_limits<std::int64_t>::max();
  result.table.rows[0].totals.total_cpu_ns = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(clamped_sums(result), 2);
  Source source;
  source.trouble = {{"odd_id", 1, 5}, {"zstd_cut", 1, 9}};
  note_clamped_sums(source, 2);
  ASSERT_EQ(source.trouble.size(), 3u);
  EXPECT_EQ(source.trouble[1].name, "sum_out_of_range");
  EXPECT_EQ(source.trouble[1].count, 2);
}

}  // namespace
}  // namespace vramscope
