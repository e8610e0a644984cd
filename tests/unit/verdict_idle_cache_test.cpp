// Memory that an allocator keeps and does not use: only a program that tells of it can be judged.
#include <gtest/gtest.h>

#include <algorithm>

#include "monitor/verdict_rule.h"
#include "report/status.h"

namespace vramscope {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kGiB = std::int64_t{1} << 30;

// One process on a GPU of 40 GiB, looked at every second.
class IdleCache : public testing::Test {
 protected:
  IdleCache() {
    DeviceSample device;
    device.values.set_text(Metric::uuid, "GPU-0");
    device.values.set(Metric::memory_total, 40 * kGiB);
    device.values.set(Metric::memory_used, 20 * kGiB);
    device.processes_state = ValueState::known;
    DeviceProcess process;
    process.pid = 42;
    process.used_bytes = 20 * kGiB;
    device.processes.push_back(process);
    devices_.push_back(std::move(device));
    HostProcess host;
    host.pid = 42;
    host.presence = Presence::seen;
    host.process.key = {42, 7};
    host.process.name = "python3";
    sample_.processes.push_back(std::move(host));
    sample_.device_list = &devices_;
  }
  DeviceProcess& process() { return devices_[0].processes[0]; }
  void tell(std::optional<std::int64_t> reserved, std::optional<std::int64_t> allocated,
            std::optional<std::int64_t> active = {}) {
    process().allocator_reserved_bytes = reserved;
    process().allocator_allocated_bytes = allocated;
    process().allocator_active_bytes = active;
  }
  void look(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      sample_.time_ns += kSecond;
      monitor_.add(sample_);
    }
  }
  std::optional<Verdict> verdict() const {
    const std::vector<Verdict> all = judge({sample_, monitor_});
    const auto found = std::find_if(all.begin(), all.end(),
                                    [](const Verdict& each) { return each.finding.rule == "idle-allocator-cache"; });
    return found == all.end() ? std::nullopt : std::optional(*found);
  }
  std::int64_t idle_bytes() const {
    const auto found = verdict();
    if (!found) return -1;
    for (const auto& [name, value] : found->finding.arguments) {
      if (name == "idle") return std::get<std::int64_t>(value.data);
    }
    return -1;
  }

  std::vector<DeviceSample> devices_;
  LiveSample sample_;
  Monitor monitor_;
};

TEST_F(IdleCache, IsToldAfterHalfAMinute) {
  tell(18 * kGiB, 4 * kGiB, 5 * kGiB);
  look(30);
  EXPECT_FALSE(verdict());
  look(1);
  const auto found = verdict();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pid, 42);
  EXPECT_EQ(found->gpu, 0);
  EXPECT_EQ(found->finding.severity, Severity::info);
  EXPECT_EQ(idle_bytes(), 13 * kGiB);
  devices_[0].values.set(Metric::memory_used, 37 * kGiB);
  look(1);
  EXPECT_EQ(verdict()->finding.severity, Severity::warning);
}

TEST_F(IdleCache, WhatWasNeededOnceInTheTimeIsNotIdle) {
  tell(18 * kGiB, 4 * kGiB);
  look(20);
  tell(18 * kGiB, 11 * kGiB);
  look(1);
  tell(18 * kGiB, 4 * kGiB);
  look(20);
  EXPECT_EQ(idle_bytes(), 7 * kGiB);
}

TEST_F(IdleCache, PeaksOfTrainingStepsBeginItAnew) {
  for (int i = 0; i < 10; ++i) {
    tell(18 * kGiB, 4 * kGiB);
    look(9);
    tell(18 * kGiB, 18 * kGiB - kGiB / 2);
    look(1);
  }
  EXPECT_FALSE(verdict());
}

TEST_F(IdleCache, ALittleIsAlwaysKept) {
  tell(30 * kGiB, 25 * kGiB);
  look(60);
  EXPECT_FALSE(verdict());  // less than a quarter
  tell(kGiB, kGiB / 8);
  look(60);
  EXPECT_FALSE(verdict());  // less than a GiB
}

TEST_F(IdleCache, UnknownIsSilent) {
  const std::optional<std::int64_t> none;
  const std::tuple<std::optional<std::int64_t>, std::optional<std::int64_t>, std::optional<std::int64_t>> cases[] = {
      {none, none, none},         {18 * kGiB, none, none},  {none, 4 * kGiB, 5 * kGiB},
      {4 * kGiB, kGiB * 5, none}, {18 * kGiB, -kGiB, none}, {-kGiB, -4 * kGiB, none}};
  for (const auto& [reserved, allocated, active] : cases) {
    tell(reserved, allocated, active);
    EXPECT_FALSE(idle_cache_bytes(process()));
    look(60);
    EXPECT_FALSE(verdict());
  }
}

TEST_F(IdleCache, AProgramThatFallsSilentIsNotJudged) {
  tell(18 * kGiB, 4 * kGiB);
  look(60);
  ASSERT_TRUE(verdict());
  tell({}, {});
  look(1);
  EXPECT_FALSE(verdict());
}

TEST_F(IdleCache, JsonHoldsWhatIsKnown) {
  EXPECT_EQ(status_json(sample_, {}).find("allocator_"), std::string::npos);
  tell(18 * kGiB, {}, 5 * kGiB);
  const std::string json = status_json(sample_, {});
  EXPECT_NE(json.find(R"("allocator_reserved_bytes":19327352832,"allocator_active_bytes":5368709120)"),
            std::string::npos)
      << json;
}

}  // namespace
}  // namespace vramscope
