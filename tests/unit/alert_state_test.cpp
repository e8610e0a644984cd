// Alerts over time, with samples made by hand.
#include "monitor/alert_state.h"

#include <gtest/gtest.h>

#include "alert_sample.h"

namespace vramscope {
namespace {

TEST(AlertState, FiresAfterItsTimeAndNotBefore) {
  AlertBench bench({"memory.used > 90% for 30s"});
  bench.used(10 * kGiB);
  EXPECT_TRUE(bench.seconds(60).empty());
  bench.used(37 * kGiB);
  EXPECT_TRUE(bench.seconds(30).empty());
  EXPECT_EQ(bench.report().state, AlertState::pending);
  const auto events = bench.seconds(1);
  ASSERT_EQ(events.size(), 1u);
  const AlertEvent& event = events[0];
  EXPECT_EQ(event.kind, AlertKind::fired);
  EXPECT_EQ(event.rule, "memory.used > 90% for 30s");
  EXPECT_EQ(event.metric, "memory.used");
  EXPECT_STREQ(event.comparison, ">");
  EXPECT_DOUBLE_EQ(*event.value, 92.5);
  EXPECT_DOUBLE_EQ(*event.threshold, 90);
  EXPECT_EQ(event.unit, AlertUnit::percent);
  EXPECT_EQ(event.value_bytes, 37 * kGiB);
  EXPECT_EQ(event.total_bytes, 40 * kGiB);
  EXPECT_EQ(event.time_ns, 90 * kSecond);
  EXPECT_EQ(event.real_time_ns, kRealStart + 90 * kSecond);
  EXPECT_EQ(event.since_real_ns, kRealStart + 60 * kSecond);
  EXPECT_EQ(event.subject.gpu, 0);
  EXPECT_EQ(event.subject.gpu_uuid, "GPU-0");
  EXPECT_EQ(event.subject.host, "host");
  ASSERT_GE(event.curve.size(), 2u);
  EXPECT_EQ(event.curve.front().real_time_ns, kRealStart);
  EXPECT_EQ(event.curve.back().value, 37 * kGiB);
  EXPECT_EQ(event.curve_unit, AlertUnit::bytes);
}

TEST(AlertState, AnInterruptionBeginsTheWaitAgain) {
  AlertBench bench({"memory.used > 90% for 30s"});
  for (int i = 0; i < 10; ++i) {
    bench.used(37 * kGiB);
    EXPECT_TRUE(bench.seconds(29).empty());
    bench.used(35 * kGiB);
    EXPECT_TRUE(bench.seconds(1).empty());
  }
  EXPECT_EQ(bench.report().longest_held_ns, 28 * kSecond);
  EXPECT_DOUBLE_EQ(bench.report().nearest->value, 92.5);
}

TEST(AlertState, ResolvedOnlyWhenBackByTheMargin) {
  AlertBench bench({"memory.used > 50%"});
  bench.used(21 * kGiB);
  ASSERT_EQ(bench.seconds(1).size(), 1u);
  bench.used(19 * kGiB + kGiB / 2);  // 48.75 %: below, not by 5 % of 50 %
  EXPECT_TRUE(bench.seconds(300).empty());
  EXPECT_EQ(bench.report().state, AlertState::firing);
  bench.used(10 * kGiB);
  EXPECT_TRUE(bench.seconds(60).empty());
  const auto events = bench.seconds(1);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, AlertKind::resolved);
  EXPECT_EQ(events[0].since_real_ns, kRealStart);
  EXPECT_DOUBLE_EQ(*events[0].value, 25);
  EXPECT_EQ(bench.report().state, AlertState::quiet);
  EXPECT_TRUE(bench.seconds(7200).empty());
}

TEST(AlertState, BackByLessThanTheMarginTakesTenTimesAsLong) {
  AlertBench bench({"memory.used > 50%"});
  bench.used(21 * kGiB);
  ASSERT_EQ(bench.seconds(1).size(), 1u);
  bench.used(19 * kGiB + kGiB / 2);
  EXPECT_TRUE(bench.seconds(600).empty());
  const auto events = bench.seconds(1);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, AlertKind::resolved);
}

// A sawtooth across the threshold is one alert, not one a tooth.
TEST(AlertState, ASawtoothIsOneAlert) {
  AlertBench bench({"memory.used > 90%"});
  std::vector<AlertEvent> all;
  for (int tooth = 0; tooth < 100; ++tooth) {
    for (int i = 0; i < 20; ++i) {
      bench.used((28 + i / 2) * kGiB + kGiB / 2);
      for (AlertEvent& event : bench.second()) all.push_back(std::move(event));
    }
  }
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].kind, AlertKind::fired);
}

TEST(AlertState, OneRepeatAnHourOverADay) {
  AlertBench bench({"temperature.gpu >= 85"});
  bench.set(Metric::temperature_gpu, 90);
  const auto events = bench.seconds(24 * 3600);
  ASSERT_EQ(events.size(), 24u);
  EXPECT_EQ(events[0].kind, AlertKind::fired);
  for (std::size_t i = 1; i < events.size(); ++i) {
    EXPECT_EQ(events[i].kind, AlertKind::repeated);
    EXPECT_EQ(events[i].time_ns - events[i - 1].time_ns, 3600 * kSecond);
    EXPECT_EQ(events[i].key, events[0].key);
    EXPECT_EQ(events[i].since_real_ns, kRealStart);
    EXPECT_LE(events[i].curve.size(), 240u);
  }
  bench.set(Metric::temperature_gpu, 60);
  const auto after = bench.seconds(24 * 3600);
  ASSERT_EQ(after.size(), 1u);
  EXPECT_EQ(after[0].kind, AlertKind::resolved);
}

TEST(AlertState, UnknownChangesNothing) {
  AlertBench bench({"temperature.gpu >= 85 for 10s"});
  bench.set(Metric::temperature_gpu, 90);
  bench.seconds(5);
  bench.devices[0].values.set_missing(Metric::temperature_gpu, ValueState::failed, 9);
  EXPECT_TRUE(bench.seconds(300).empty());
  bench.set(Metric::temperature_gpu, 90);
  EXPECT_TRUE(bench.seconds(10).empty()) << "the wait begins anew after a long gap";
  EXPECT_EQ(bench.seconds(1).size(), 1u);
  bench.devices[0].values.set_missing(Metric::temperature_gpu, ValueState::failed, 9);
  EXPECT_TRUE(bench.seconds(4 * 3600).empty());
  EXPECT_EQ(bench.report().state, AlertState::firing);
  EXPECT_TRUE(bench.obstacles.empty());
}

TEST(AlertState, WhatNoDeviceHasIsToldOnce) {
  AlertBench bench({"fan.speed > 90%", "temperature.gpu > 200", "memory.used > 90% on gpu 7"});
  bench.set(Metric::temperature_gpu, 50);
  bench.seconds(100);
  EXPECT_EQ(bench.obstacles, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(bench.report(0).obstacle, AlertObstacle::no_such_metric);
  EXPECT_EQ(bench.report(0).state, AlertState::unknown);
  EXPECT_EQ(bench.report(1).obstacle, AlertObstacle::none);
  EXPECT_EQ(bench.report(2).obstacle, AlertObstacle::no_such_gpu);
}

TEST(AlertState, EachDeviceForItself) {
  AlertBench bench({"memory.used > 90%", "memory.used > 90% on gpu 1", "memory.used > 90% on GPU-2"}, 3);
  bench.used(39 * kGiB, 0);
  bench.used(39 * kGiB, 2);
  const auto events = bench.seconds(10);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].subject.gpu, 0);
  EXPECT_EQ(events[1].subject.gpu, 2);
  EXPECT_EQ(events[2].rule_index, 2u);
  EXPECT_NE(events[0].key, events[1].key);
  EXPECT_NE(events[1].key, events[2].key);
}

TEST(AlertState, TheLargestHoldersComeFirst) {
  AlertBench bench({"memory.used > 50%"});
  for (int i = 1; i <= 9; ++i) bench.hold(100 + i, i * kGiB, "python3 train.py --rank " + std::to_string(i));
  bench.used(39 * kGiB);
  const auto events = bench.seconds(1);
  ASSERT_EQ(events.size(), 1u);
  ASSERT_EQ(events[0].holders.size(), 5u);
  EXPECT_EQ(events[0].holders[0].pid, 109);
  EXPECT_EQ(events[0].holders[0].user, "ann");
  EXPECT_EQ(events[0].holders[0].command, "python3 train.py --rank 9");
  EXPECT_EQ(events[0].holders[4].pid, 105);
}

TEST(AlertState, MemoryOfAProcessResolvesWhenItEnds) {
  AlertBench bench({"process.memory > 20 GiB"});
  bench.hold(11, 30 * kGiB);
  bench.hold(12, 3 * kGiB);
  auto events = bench.seconds(60);
  ASSERT_EQ(events.size(), 1u);
  ASSERT_TRUE(events[0].subject.process);
  EXPECT_EQ(events[0].subject.process->pid, 11);
  EXPECT_EQ(events[0].subject.process->used_bytes, 30 * kGiB);
  EXPECT_GE(events[0].curve.size(), 1u);
  bench.drop(11);
  events = bench.seconds(5);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, AlertKind::resolved);
  EXPECT_EQ(events[0].subject.process->pid, 11);
}

TEST(AlertState, AProcessOnALostGpuIsNotGone) {
  AlertBench bench({"process gone", "process.memory > 1 GiB"});
  bench.hold(11, 30 * kGiB);
  ASSERT_EQ(bench.seconds(10).size(), 1u);
  bench.devices[0].is_lost = true;
  bench.devices[0].processes.clear();
  bench.devices[0].processes_state = ValueState::lost;
  EXPECT_TRUE(bench.seconds(100).empty());
}

TEST(AlertState, GpuLostAndBack) {
  AlertBench bench({"gpu lost"}, 2);
  EXPECT_TRUE(bench.seconds(10).empty());
  bench.devices[1].is_lost = true;
  auto events = bench.seconds(100);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].subject.gpu, 1);
  EXPECT_EQ(events[0].severity, Severity::error);
  bench.devices[1].is_lost = false;
  events = bench.seconds(100);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, AlertKind::resolved);
}

TEST(AlertState, ProcessesGone) {
  AlertBench bench({"process gone", "process gone train.py", "process gone 13", "process gone nothere"});
  bench.hold(11, 3 * kGiB, "python3 /home/ann/train.py");
  bench.hold(12, 5 * kGiB, "python3 serve.py");
  bench.hold(13, 1 * kGiB, "python3 train.py");
  EXPECT_TRUE(bench.seconds(10).empty());
  bench.drop(12);
  auto events = bench.seconds(1);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].rule_index, 0u);
  EXPECT_EQ(events[0].subject.process->pid, 12);
  EXPECT_GE(events[0].curve.size(), 2u);
  bench.drop(11);
  events = bench.seconds(1);
  ASSERT_EQ(events.size(), 1u) << "another train.py is still there";
  bench.drop(13);
  events = bench.seconds(100);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[1].rule, "process gone train.py");
  EXPECT_EQ(events[2].rule, "process gone 13");
  bench.hold(21, kGiB, "python3 train.py");
  events = bench.seconds(100);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, AlertKind::resolved);
  EXPECT_EQ(events[0].subject.process->pid, 21);
  EXPECT_EQ(bench.report(3).state, AlertState::unknown);
}

TEST(AlertState, ManyProcessesThatEndAtOnceAreOneNotice) {
  AlertBench bench({"process gone"});
  for (int i = 1; i <= 20; ++i) bench.hold(100 + i, i * kGiB / 10);
  bench.seconds(3);
  bench.devices[0].processes.clear();
  const auto events = bench.seconds(3);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].holders.size(), 20u);
  EXPECT_EQ(events[0].subject.process->pid, 120);
}

TEST(AlertState, NewXidsAlone) {
  AlertBench bench({"xid"}, 2);
  bench.set(Metric::xid_last, 31, 0);
  bench.set(Metric::xid_last, 0, 1);
  EXPECT_TRUE(bench.seconds(10).empty()) << "what was there before is not new";
  bench.set(Metric::xid_last, 79, 1);
  auto events = bench.seconds(7200);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].subject.gpu, 1);
  EXPECT_DOUBLE_EQ(*events[0].value, 79);
  bench.set(Metric::xid_last, 13, 0);
  EXPECT_EQ(bench.seconds(10).size(), 1u);
}

TEST(AlertState, GrowthAndTimeUntilFull) {
  AlertBench bench({"memory growing", "full within 30m"});
  std::vector<AlertEvent> all;
  for (int i = 0; i < 3 * 3600; ++i) {
    bench.used(4 * kGiB + i * (32 * kGiB / (3 * 3600)));
    for (AlertEvent& event : bench.second()) all.push_back(std::move(event));
  }
  const auto first = [&](std::size_t rule) {
    return std::find_if(all.begin(), all.end(), [&](const AlertEvent& event) { return event.rule_index == rule; });
  };
  ASSERT_NE(first(0), all.end());
  EXPECT_EQ(first(0)->unit, AlertUnit::bytes_per_hour);
  EXPECT_NEAR(*first(0)->value, 32.0 * kGiB / 3, 0.05 * kGiB * 32 / 3);
  ASSERT_NE(first(1), all.end());
  EXPECT_EQ(first(1)->unit, AlertUnit::nanoseconds);
  EXPECT_LE(*first(1)->value, 30.0 * 60 * kSecond);
  for (const AlertEvent& event : all) EXPECT_NE(event.kind, AlertKind::resolved);
  for (int i = 0; i < 6 * 3600; ++i) {
    bench.used(10 * kGiB);
    for (AlertEvent& event : bench.second()) all.push_back(std::move(event));
  }
  EXPECT_EQ(bench.report(0).state, AlertState::quiet);
  EXPECT_EQ(bench.report(1).state, AlertState::quiet);
}

}  // namespace
}  // namespace vramscope
