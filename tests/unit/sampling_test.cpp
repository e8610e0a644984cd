// Scenarios as samples, and samples through a recording and back.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "monitor/monitor.h"
#include "monitor/verdict_rule.h"
#include "report/status.h"
#include "sampling/recorder.h"
#include "sampling/sampler.h"

namespace vramscope {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::unique_ptr<Sampler> simulated(const std::string& scenario, std::int64_t interval_ns = kSecond) {
  SamplerOptions options;
  options.device = "sim:" + scenario;
  options.speed = 0;
  options.interval_ns = interval_ns;
  auto sampler = open_sampler(options);
  EXPECT_TRUE(static_cast<bool>(sampler));
  return sampler ? std::move(*sampler) : nullptr;
}

struct TempFile {
  std::string path = (std::filesystem::temp_directory_path() /
                      ("vramscope-sampling-" + std::to_string(::getpid()) + "-" + std::to_string(number++) + ".vrs"))
                         .string();
  static inline int number = 0;
  ~TempFile() { std::filesystem::remove(path); }
};

// Everything that a person or a program is shown.
std::string shown_as(const LiveSample& sample, const Monitor& monitor) {
  LiveSample copy = sample;
  for (HostProcess& process : copy.processes) {
    process.age_ns.reset();
    if (process.process.state == 'S') process.process.state = 'R';  // not told apart in a recording
  }
  return status_json(copy, judge({copy, monitor}));
}

TEST(Sampling, TwentyFourHoursOfEveryScenarioGrowOnlyWhereItLeaks) {
  for (const std::string name : {"healthy", "fragmentation", "starving", "zombie", "hot", "lost-gpu", "node8"}) {
    auto sampler = simulated(name, name == "node8" ? 10 * kSecond : kSecond);
    ASSERT_NE(sampler, nullptr);
    Monitor monitor;
    while (monitor.sample_count() == 0 || monitor.last_time_ns() < 24LL * 3600 * kSecond) {
      monitor.add(*sampler->sample());
      for (const DeviceHistory& device : monitor.devices()) {
        ASSERT_NE(device.growth.growth().state, GrowthState::growing) << name << " at " << monitor.last_time_ns();
      }
      for (const HolderHistory& holder : monitor.holders()) {
        ASSERT_NE(holder.growth.growth().state, GrowthState::growing) << name << " at " << monitor.last_time_ns();
      }
    }
  }
}

TEST(Sampling, TheLeakIsFoundAndItsEndForetold) {
  auto sampler = simulated("leak");
  Monitor monitor;
  std::int64_t found_ns = 0;
  while (found_ns == 0 && monitor.last_time_ns() < 3600 * kSecond) {
    monitor.add(*sampler->sample());
    if (monitor.devices()[0].growth.growth().state == GrowthState::growing) found_ns = monitor.last_time_ns();
  }
  EXPECT_GT(found_ns, 600 * kSecond);
  EXPECT_LT(found_ns, 1200 * kSecond);
  // The scenario: from 9 GiB at 60 s to 38 GiB at 3 h; 39.06 GiB can be used at the top of the rhythm.
  const auto left = monitor.time_until_full_ns(monitor.devices()[0]);
  ASSERT_TRUE(left);
  EXPECT_NEAR(static_cast<double>(found_ns + *left) / (3600.0 * static_cast<double>(kSecond)), 3.0, 0.2);
}

TEST(Sampling, ARecordingPlaysBackWhatWasSampled) {
  for (const std::string name : {"node8", "zombie", "lost-gpu", "leak"}) {
    const TempFile file;
    std::vector<std::string> original;
    {
      auto sampler = simulated(name);
      auto recorder = Recorder::open(file.path, {"test", "", false, true}, MachineFacts{});
      ASSERT_TRUE(static_cast<bool>(recorder)) << recorder.error().message;
      Monitor monitor;
      for (int i = 0; i < 60; ++i) {
        const LiveSample& sample = *sampler->sample();
        monitor.add(sample);
        EXPECT_FALSE((*recorder)->add(sample));
        original.push_back(shown_as(sample, monitor));
      }
      EXPECT_FALSE((*recorder)->close());
      EXPECT_EQ((*recorder)->totals().dropped, 0);
    }
    SamplerOptions options;
    options.replay = file.path;
    options.speed = 0;
    auto replay = open_sampler(options);
    ASSERT_TRUE(static_cast<bool>(replay)) << replay.error().message;
    Monitor monitor;
    std::size_t count = 0;
    while (const LiveSample* sample = (*replay)->sample()) {
      monitor.add(*sample);
      ASSERT_LT(count, original.size());
      EXPECT_EQ(shown_as(*sample, monitor), original[count]) << name << " sample " << count;
      ++count;
    }
    EXPECT_EQ(count, original.size());
  }
}

TEST(Sampling, ClientsOfMpsAreClientsInARecordingToo) {
  const TempFile scenario;
  std::ofstream(scenario.path)
      << "gpu 0\nmemory.total = 8GiB\nprocess 7\ntype = M+C\nused = 1GiB\nprocess 8\nused = 1GiB\n";
  auto sampler = simulated(scenario.path);
  const TempFile file;
  auto recorder = Recorder::open(file.path, {"test", "", false, true}, MachineFacts{});
  ASSERT_TRUE(static_cast<bool>(recorder));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE((*recorder)->add(*sampler->sample()));
  EXPECT_FALSE((*recorder)->close());
  SamplerOptions options;
  options.replay = file.path;
  options.speed = 0;
  auto replay = open_sampler(options);
  ASSERT_TRUE(static_cast<bool>(replay));
  const LiveSample& sample = *(*replay)->sample();
  ASSERT_EQ(sample.devices()[0].processes.size(), 2u);
  for (const DeviceProcess& process : sample.devices()[0].processes) EXPECT_EQ(process.is_mps, process.pid == 7);
}

TEST(Sampling, WhatAnAllocatorTellsIsKeptInARecording) {
  const TempFile scenario;
  std::ofstream(scenario.path)
      << "gpu 0\nmemory.total = 8GiB\nprocess 7\nused = 4GiB\nallocator_reserved_bytes = 3GiB\n"
         "allocator_allocated_bytes = 0:1GiB 2s:1536MiB\nprocess 8\nused = 1GiB\n";
  auto sampler = simulated(scenario.path);
  const TempFile file;
  auto recorder = Recorder::open(file.path, {"test", "", false, true}, MachineFacts{});
  ASSERT_TRUE(static_cast<bool>(recorder));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE((*recorder)->add(*sampler->sample()));
  EXPECT_FALSE((*recorder)->close());
  SamplerOptions options;
  options.replay = file.path;
  options.speed = 0;
  auto replay = open_sampler(options);
  ASSERT_TRUE(static_cast<bool>(replay));
  const LiveSample* sample = nullptr;
  for (int i = 0; i < 3; ++i) sample = (*replay)->sample();
  ASSERT_NE(sample, nullptr);
  ASSERT_EQ(sample->devices()[0].processes.size(), 2u);
  for (const DeviceProcess& process : sample->devices()[0].processes) {
    const bool tells = process.pid == 7;
    EXPECT_EQ(process.allocator_reserved_bytes, tells ? std::optional<std::int64_t>(3LL << 30) : std::nullopt);
    EXPECT_EQ(process.allocator_allocated_bytes, tells ? std::optional<std::int64_t>(3LL << 29) : std::nullopt);
    EXPECT_EQ(process.allocator_active_bytes, std::nullopt);
  }
}

TEST(Sampling, ARecordingIsNotOverwrittenUnasked) {
  const TempFile file;
  {
    auto first = Recorder::open(file.path, {"test", "", false, true}, MachineFacts{});
    ASSERT_TRUE(static_cast<bool>(first));
  }
  EXPECT_FALSE(static_cast<bool>(Recorder::open(file.path, {"test", "", false, true}, MachineFacts{})));
  EXPECT_TRUE(static_cast<bool>(Recorder::open(file.path, {"test", "", true, true}, MachineFacts{})));
}

TEST(Sampling, WhatContradictsItselfIsRefused) {
  SamplerOptions options;
  options.device = "sim:leak";
  options.replay = "x.vrs";
  const auto sampler = open_sampler(options);
  ASSERT_FALSE(static_cast<bool>(sampler));
  EXPECT_EQ(sampler.error().code, ExitCode::usage);
}

TEST(Sampling, TheRhythmOfASimulationIsItsOwnTime) {
  auto sampler = simulated("healthy", 250'000'000);
  EXPECT_EQ(sampler->sample()->time_ns, 0);
  EXPECT_EQ(sampler->sample()->time_ns, 250'000'000);
  EXPECT_LE(sampler->due_ns(), monotonic_now_ns());
}

}  // namespace
}  // namespace vramscope
