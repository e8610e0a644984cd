// Scenarios played as devices.
#include <gtest/gtest.h>

#include <fstream>

#include "devices/backend.h"
#include "devices/backends/sim/scenario.h"

namespace vramscope {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
using M = Metric;

std::unique_ptr<DeviceSource> play(const std::string& name) {
  auto source = open_devices("sim:" + name);
  EXPECT_TRUE(source) << source.error().message;
  return std::move(*source);
}

std::int64_t at(std::string_view curve, std::int64_t seconds) {
  const auto parsed = sim::Curve::parse(curve);
  return parsed ? parsed->at(seconds * kSecond, 1) : -1;
}

TEST(SimCurve, PointsTermsAndUnits) {
  EXPECT_EQ(at("7", 100), 7);
  EXPECT_EQ(at("1.5GiB", 0), 1610612736);
  EXPECT_EQ(at("250W", 0), 250000);
  EXPECT_EQ(at("0:10 10s:20", 5), 15);
  EXPECT_EQ(at("0:10 10s:20", 50), 20);
  EXPECT_EQ(at("5s:10 10s:20", 0), 10);
  EXPECT_EQ(at("0:0 4s:8 5s:0 every 5s", 7), 4);
  EXPECT_EQ(at("0:0 4s:8 5s:0 every 5s + 100", 7), 104);
  EXPECT_EQ(at("1h:5 2h:6", 3600), 5);
  for (int i = 0; i < 100; ++i) {
    EXPECT_GE(at("50 + noise 5", i), 45);
    EXPECT_LE(at("50 + noise 5", i), 55);
    EXPECT_GE(at("noise 9", i), 0);
  }
}

TEST(SimCurve, WhatIsNoCurveIsRefused) {
  for (const char* text : {"", "x", "1 2 x", "0:1 0:2", "5:1 3:2", "1 every", "1 every 0", "1 every 5s 3", "noise",
                           "1 +", "1e9", "1..2", "99999999999999999999999", "9999999TiB", "1 : 2", "-4", "noise 3 4"}) {
    EXPECT_FALSE(sim::Curve::parse(text)) << text;
  }
}

TEST(Sim, EveryBuiltInPlays) {
  for (const std::string_view name : sim::built_in_names()) {
    auto source = play(std::string(name));
    for (const std::int64_t seconds : {0, 1, 60, 3600, 86400}) {
      for (const DeviceSample& device : source->sample(live_wanted(), seconds * kSecond)) {
        EXPECT_FALSE(device.text(M::name).empty());
        EXPECT_FALSE(device.text(M::uuid).empty());
        if (device.is_lost) continue;
        const std::int64_t total = device.number(M::memory_total).value_or(0);
        EXPECT_GT(total, 0) << name;
        EXPECT_EQ(device.number(M::memory_used).value_or(-1) + device.number(M::memory_free).value_or(-1) +
                      device.number(M::memory_reserved).value_or(0),
                  total)
            << name;
      }
    }
  }
}

TEST(Sim, TheSameMomentIsTheSame) {
  auto a = play("leak");
  auto b = play("leak");
  b->sample(live_wanted(), 5 * kSecond);
  const DeviceSample& one = a->sample(live_wanted(), 77 * kSecond)[0];
  const DeviceSample& two = b->sample(live_wanted(), 77 * kSecond)[0];
  for (const MetricInfo& info : metric_table()) {
    EXPECT_EQ(one.number(info.id), two.number(info.id)) << info.name;
  }
  EXPECT_EQ(one.processes[0].sm_percent, two.processes[0].sm_percent);
}

TEST(Sim, LeakGrowsUntilFull) {
  auto source = play("leak");
  const auto used = [&](std::int64_t seconds) {
    return *source->sample(live_wanted(), seconds * kSecond)[0].number(M::memory_used);
  };
  EXPECT_LT(used(600), used(3600));
  EXPECT_LT(used(3600), used(10000));
  EXPECT_EQ(used(20000), used(30000));
}

TEST(Sim, LostGpuKeepsItsName) {
  auto source = play("lost-gpu");
  EXPECT_FALSE(source->sample(live_wanted(), 29 * kSecond)[1].is_lost);
  const auto& samples = source->sample(live_wanted(), 30 * kSecond);
  EXPECT_TRUE(samples[1].is_lost);
  EXPECT_EQ(samples[1].text(M::name), "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(samples[1].number(M::xid_last), 79);
  EXPECT_EQ(samples[1].values[M::memory_used].state, ValueState::lost);
  EXPECT_FALSE(samples[0].is_lost);
}

TEST(Sim, ZombiesHaveHostFacts) {
  auto source = play("zombie");
  const DeviceSample& gpu = source->sample(live_wanted(), 0)[0];
  ASSERT_EQ(gpu.processes.size(), 3u);
  ASSERT_TRUE(gpu.processes[0].host);
  EXPECT_EQ(gpu.processes[0].host->state, 'Z');
  EXPECT_EQ(gpu.processes[0].host->user, "dave");
  EXPECT_EQ(gpu.processes[2].host->parent_pid, 1);
}

TEST(Sim, Node8HasEightGpusAndMig) {
  auto source = play("node8");
  const auto& samples = source->sample(live_wanted(), 0);
  std::size_t processes = 0;
  int gpus = 0;
  int migs = 0;
  for (const DeviceSample& sample : samples) {
    processes += sample.processes.size();
    (sample.parent ? migs : gpus) += 1;
  }
  EXPECT_EQ(gpus, 8);
  EXPECT_EQ(migs, 2);
  EXPECT_EQ(processes, 160u);
  EXPECT_EQ(samples[8].parent, 7);
  EXPECT_GT(*samples[8].number(M::memory_used), 20LL << 30);
}

TEST(Sim, FilesAndMistakes) {
  const std::string path = testing::TempDir() + "own.scenario";
  std::ofstream(path) << "gpu 0..1\n name = Own # my card\n memory.total = 1GiB\n process 10\n  used = 256MiB\n"
                         "  from = 5s\n  until = 8s\n";
  auto source = open_devices("sim:" + path);
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->sample(live_wanted(), 0)[1].processes.size(), 0u);
  const auto& samples = (*source)->sample(live_wanted(), 5 * kSecond);
  ASSERT_EQ(samples[1].processes.size(), 1u);
  EXPECT_EQ(samples[1].processes[0].pid, 1010);
  EXPECT_EQ(samples[1].number(M::memory_used), 256LL << 20);
  EXPECT_EQ(samples[1].text(M::name), "Own");
  EXPECT_EQ((*source)->sample(live_wanted(), 8 * kSecond)[1].processes.size(), 0u);

  for (const char* text :
       {"", "gpu 0\nmemory.totl = 3\n", "memory.total = 3\n", "gpu 0\nprocess\n", "gpu 9..3\n",
        "gpu 0\nprocess 1..9999\n", "gpu 0\nprocess 1\nused = much\n", "gpu 99\n", "mig\n", "gpu 0\nindex = 4\n",
        "gpu 0\nmig\nmemory.total = x\n", "gpu 0\nprocess 1\ntype = Q\n", "gpu 0\nname =\n", "gpu 0\n\xff\xfe\n"}) {
    const auto parsed = sim::parse_scenario(text, "t");
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ExitCode::bad_input);
  }
  EXPECT_EQ(open_devices("sim:nosuch").error().code, ExitCode::usage);
  EXPECT_EQ(open_devices("sim:/nonexistent/x").error().code, ExitCode::bad_input);
  EXPECT_EQ(open_devices("sim:/").error().code, ExitCode::bad_input);
  EXPECT_EQ(open_devices("what").error().code, ExitCode::usage);
}

}  // namespace
}  // namespace vramscope
