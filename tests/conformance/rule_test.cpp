// What every rule must stand: sources that hold nothing, little, or nonsense.
#include "rules/rule.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "model/device_log_builder.h"

namespace vramscope {
namespace {

Source source_of(DeviceLog log) {
  Source source;
  source.device_log = std::move(log);
  return source;
}

// Every rule says something of every source: that it is fine, that it looked not, or what is wrong.
void expect_an_answer(const Source& source) {
  Facts facts(source);
  for (const Rule& rule : rules()) {
    Verdicts verdicts;
    run_rule(rule, facts, verdicts);
    EXPECT_GT(verdicts.findings.size() + verdicts.skipped.size() + verdicts.passed.size(), 0U) << rule.id;
    for (const Finding& finding : verdicts.findings) {
      EXPECT_GT(finding.confidence, 0) << rule.id;
      EXPECT_LE(finding.confidence, 1) << rule.id;
      EXPECT_STRNE(finding.title, "") << rule.id;
      EXPECT_STRNE(finding.fix, "") << rule.id;
      EXPECT_FALSE(finding.evidence.empty()) << rule.id;
    }
  }
}

// Nothing at warning or above, and nothing that is called fine without having been seen.
void expect_no_alarm(const Source& source) {
  Case input;
  Facts facts(input, source);
  for (const Rule& rule : rules()) {
    Verdicts verdicts;
    run_rule(rule, facts, verdicts);
    for (const Finding& finding : verdicts.findings) EXPECT_EQ(finding.severity, Severity::info) << rule.id;
  }
}

TEST(Rules, StandAnEmptyCase) {
  Source empty;
  expect_an_answer(empty);
  expect_no_alarm(empty);
}

TEST(Rules, StandAnEmptyLogOfDevices) {
  for (const std::uint32_t devices : {0U, 3U}) {
    DeviceLogBuilder builder;
    for (std::uint32_t at = 0; at < devices; ++at) builder.add_device({});
    const Source source = source_of(builder.take(LogClock::none, "csv"));
    Facts facts(source);
    for (const Rule& rule : rules()) {
      Verdicts verdicts;
      run_rule(rule, facts, verdicts);
      EXPECT_EQ(verdicts.skipped.size(), 1U) << rule.id;
    }
  }
}

// One moment of a GPU at rest: no duration is claimed, nothing is wrong.
TEST(Rules, StandOneMoment) {
  for (const bool has_time : {false, true}) {
    DeviceLogBuilder builder;
    builder.add_device({});
    builder.begin_moment(1'700'000'000'000'000'000);
    builder.set(0, Metric::utilization_gpu, ValueState::known, 0);
    builder.set(0, Metric::memory_used, ValueState::known, 300 << 20);
    builder.set(0, Metric::memory_total, ValueState::known, std::int64_t{24} << 30);
    builder.set(0, Metric::pcie_link_gen_current, ValueState::known, 1);
    builder.set(0, Metric::pcie_link_gen_max, ValueState::known, 4);
    builder.set(0, Metric::clocks_event_reasons_active, ValueState::known, 1);
    builder.list_processes();
    Source source = source_of(builder.take(has_time ? LogClock::local : LogClock::none, "q"));
    if (!has_time) source.device_log->time_ns.clear();
    expect_an_answer(source);
    expect_no_alarm(source);
  }
}

std::int64_t nonsense(std::mt19937& random) {
  constexpr std::int64_t kOdd[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, 50, 99, 100, 1 << 20, INT64_MAX - 1, INT64_MAX};
  return kOdd[random() % std::size(kOdd)];
}

// Any values at any times: no rule may overflow, crash, or be more than sure.
TEST(Rules, StandNonsense) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    DeviceLogBuilder builder;
    const std::uint32_t devices = 1 + static_cast<std::uint32_t>(random() % 4);
    for (std::uint32_t at = 0; at < devices; ++at) {
      LogDevice device;
      if (at > 0 && random() % 4 == 0) device.parent = 0;
      if (random() % 4 != 0) device.index = nonsense(random);
      builder.add_device(std::move(device));
    }
    for (int i = 0; i < 3; ++i) builder.add_process({nonsense(random), i == 0 ? "" : "python"});
    std::int64_t time_ns = nonsense(random) / 2;
    const std::uint32_t moments = static_cast<std::uint32_t>(random() % 200);
    for (std::uint32_t moment = 0; moment < moments; ++moment) {
      if (random() % 50 == 0) time_ns = nonsense(random);
      builder.begin_moment(time_ns);
      if (time_ns < INT64_MAX / 2) time_ns += 1'000'000'000;
      for (std::uint32_t at = 0; at < devices; ++at) {
        for (const MetricInfo& info : metric_table()) {
          if (random() % 8 != 0) continue;
          const ValueState state = random() % 5 == 0 ? ValueState::failed : ValueState::known;
          builder.set(at, info.id, state, nonsense(random));
        }
        if (random() % 2 == 0) continue;
        LogUse use;
        use.process = static_cast<std::uint32_t>(random() % 3);
        use.device = at;
        use.used_bytes = nonsense(random);
        builder.list_processes();
        builder.add_use(use);
      }
    }
    Source source = source_of(builder.take(LogClock::local, "csv"));
    if (seed % 3 == 0) source.device_log->time_ns.clear();
    expect_an_answer(source);
  }
}

}  // namespace
}  // namespace vramscope
