// Alert rules as people write them.
#include "monitor/alert_rule.h"

#include <gtest/gtest.h>

#include "monitor/alert_units.h"

namespace vramscope {
namespace {

AlertRule parsed(std::string_view text) {
  auto rule = parse_alert_rule(text);
  EXPECT_TRUE(rule) << text << ": " << (rule ? "" : rule.error().message);
  return rule ? *rule : AlertRule();
}

std::string refusal(std::string_view text) {
  const auto rule = parse_alert_rule(text);
  EXPECT_FALSE(rule) << text;
  if (rule) return {};
  EXPECT_EQ(rule.error().code, ExitCode::usage);
  EXPECT_EQ(rule.error().message.back(), '.') << rule.error().message;
  return rule.error().message;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

TEST(AlertRule, MetricWithShareOfMemory) {
  const AlertRule rule = parsed("memory.used > 90% for 30s on gpu 0,1");
  EXPECT_EQ(rule.condition, AlertCondition::metric);
  EXPECT_EQ(rule.metric, Metric::memory_used);
  EXPECT_EQ(rule.comparison, AlertComparison::above);
  EXPECT_TRUE(rule.is_share);
  EXPECT_EQ(rule.unit, AlertUnit::percent);
  EXPECT_EQ(rule.threshold, 90);
  EXPECT_EQ(rule.for_ns, 30'000'000'000);
  EXPECT_EQ(rule.gpus, (std::vector<int>{0, 1}));
  EXPECT_EQ(rule.text, "memory.used > 90% for 30s on gpu 0,1");
}

TEST(AlertRule, UnitsAreThoseOfTheMetric) {
  EXPECT_EQ(parsed("memory.used>=20GiB").threshold, 20.0 * (1 << 30));
  EXPECT_EQ(parsed("memory.used >= 20 GB").threshold, 20e9);
  EXPECT_FALSE(parsed("memory.used >= 20 GB").is_share);
  EXPECT_EQ(parsed("power.draw > 0.3 kW").threshold, 300'000);
  EXPECT_EQ(parsed("power.draw > 300W").threshold, 300'000);
  EXPECT_EQ(parsed("clocks.current.sm < 1.2GHz").threshold, 1200);
  EXPECT_EQ(parsed("temperature.gpu >= 85").threshold, 85);
  EXPECT_EQ(parsed("temperature.gpu >= 85C").threshold, 85);
  EXPECT_EQ(parsed("utilization.gpu < 20%").threshold, 20);
  EXPECT_FALSE(parsed("utilization.gpu < 20%").is_share);
  EXPECT_EQ(parsed("ecc.errors.uncorrected.volatile.total != 0").threshold, 0);
  EXPECT_EQ(parsed("memory.free == 0").threshold, 0);
}

TEST(AlertRule, AliasesOfNvidiaSmi) {
  EXPECT_EQ(parsed("clocks_throttle_reasons.hw_slowdown == 1").metric, Metric::clocks_event_reasons_hw_slowdown);
}

TEST(AlertRule, FurtherConditions) {
  EXPECT_EQ(parsed("memory growing").condition, AlertCondition::memory_growing);
  EXPECT_EQ(parsed("full within 20m").within_ns, 1200LL * 1'000'000'000);
  EXPECT_EQ(parsed("full within 20 m on gpu 1").within_ns, 1200LL * 1'000'000'000);
  EXPECT_EQ(parsed("gpu lost").severity, Severity::error);
  EXPECT_EQ(parsed("gpu lost for 10s").for_ns, 10'000'000'000);
  EXPECT_EQ(parsed("process gone").process_name, "");
  EXPECT_EQ(parsed("process gone train.py on gpu 0").process_name, "train.py");
  EXPECT_EQ(parsed("process gone 4242").process_pid, 4242);
  EXPECT_EQ(parsed("xid").condition, AlertCondition::xid);
  EXPECT_EQ(parsed("process.memory > 20 GiB").condition, AlertCondition::process_memory);
  EXPECT_TRUE(parsed("process.memory > 50 %").is_share);
}

TEST(AlertRule, Scopes) {
  EXPECT_EQ(parsed("xid on gpu GPU-aa,GPU-bb").uuids, (std::vector<std::string>{"GPU-aa", "GPU-bb"}));
  EXPECT_EQ(parsed("xid on GPU-aa").uuids, std::vector<std::string>{"GPU-aa"});
  EXPECT_EQ(parsed("gpu lost on gpu 0, 2").gpus, (std::vector<int>{0, 2}));
  EXPECT_EQ(parsed("memory.used > 1GiB on gpu 3 for 5m").for_ns, 300LL * 1'000'000'000);
}

TEST(AlertRule, RefusalsPointToTheWord) {
  const std::string name = refusal("memroy.used > 90%");
  EXPECT_TRUE(has(name, "\"memroy.used\" (at character 1)")) << name;
  EXPECT_TRUE(has(name, "memory.used is the nearest")) << name;
  const std::string sign = refusal("memory.used => 90%");
  EXPECT_TRUE(has(sign, "\"=>\" (at character 13)")) << sign;
  EXPECT_TRUE(has(sign, "> >= < <= == !=")) << sign;
  EXPECT_TRUE(has(refusal("memory.used > 90"), "needs a unit"));
  EXPECT_TRUE(has(refusal("memory.used > 90 W"), "\"W\" (at character 18)"));
  EXPECT_TRUE(has(refusal("memory.used > lots"), "no number"));
  EXPECT_TRUE(has(refusal("memory.used >"), "ends too early"));
  EXPECT_TRUE(has(refusal("memory.used > 90% for 30"), "no length of time"));
  EXPECT_TRUE(has(refusal("memory.used > 90% for"), "ends too early"));
  EXPECT_TRUE(has(refusal("memory.used > 90% on gpu x"), "numbers of GPUs"));
  EXPECT_TRUE(has(refusal("memory.used > 90% whenever"), "\"whenever\" (at character 19)"));
  EXPECT_TRUE(has(refusal("memory.used > 90% for 3s for 4s"), "each once"));
  EXPECT_TRUE(has(refusal("name == 3"), "text"));
  EXPECT_TRUE(has(refusal("xid for 30s"), "cannot last"));
  EXPECT_TRUE(has(refusal("process gone a for 3s"), "cannot last"));
  EXPECT_TRUE(has(refusal("full in 20m"), "after full comes within"));
  EXPECT_TRUE(has(refusal("gpu gone"), "after gpu comes lost"));
  EXPECT_TRUE(has(refusal(""), "write a condition"));
  EXPECT_TRUE(has(refusal("   "), "write a condition"));
  EXPECT_TRUE(has(refusal("ecc.errors.corrected.volatile.total > 3 MiB"), "no unit"));
  refusal(std::string(2000, 'x'));
}

TEST(AlertRule, ControlCharactersAreMadeHarmless) {
  EXPECT_TRUE(has(refusal("a\x1b[31m > 3"), "\\x1b"));
  refusal(std::string("memory.used > \0 3", 17));
  refusal("\xff\xfe > 3");
}

// Every metric that is a number can stand in a rule.
TEST(AlertRule, WholeMetricTable) {
  std::size_t numbers = 0;
  for (const MetricInfo& info : metric_table()) {
    const auto rule = parse_alert_rule(std::string(info.name) + " > 0");
    EXPECT_EQ(static_cast<bool>(rule), info.unit != MetricUnit::text) << info.name;
    if (!rule) continue;
    ++numbers;
    EXPECT_EQ(rule->metric, info.id);
    EXPECT_TRUE(metrics_of({*rule}).test(index_of(info.id)));
  }
  EXPECT_GT(numbers, 100u);
}

TEST(AlertUnits, DurationsAndNames) {
  EXPECT_EQ(read_duration_ns("500ms"), 500'000'000);
  EXPECT_EQ(read_duration_ns("1d"), 86'400LL * 1'000'000'000);
  EXPECT_FALSE(read_duration_ns("0s"));
  EXPECT_FALSE(read_duration_ns("-3s"));
  EXPECT_FALSE(read_duration_ns("1e9s"));
  EXPECT_FALSE(read_duration_ns("99999999999d"));
  EXPECT_FALSE(read_duration_ns("30"));
  EXPECT_EQ(closest_name("intervall", {"interval", "notify"}), "interval");
  EXPECT_EQ(closest_name("zzzzzz", {"interval", "notify"}), "");
}

}  // namespace
}  // namespace vramscope
