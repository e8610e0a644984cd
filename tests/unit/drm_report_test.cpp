// What people read of devices that the kernel's DRM drivers show, where no golden case can make the machine so.
#include <gtest/gtest.h>

#include "model/finding.h"
#include "monitor/monitor.h"
#include "monitor/verdict_rule.h"
#include "report/status.h"

namespace vramscope {
namespace {

using M = Metric;
constexpr std::int64_t kGib = 1 << 30;

struct Machine {
  std::vector<DeviceSample> devices;
  LiveSample sample;
  Monitor monitor;

  explicit Machine(const char* driver) {
    DeviceSample& gpu = devices.emplace_back();
    gpu.values.set_text(M::name, "A card");
    gpu.values.set_text(M::uuid, "PCI-0000:03:00.0");
    gpu.values.set_text(M::kernel_driver, driver);
    gpu.values.set(M::memory_total, 24 * kGib);
    gpu.values.set(M::memory_used, 12 * kGib);
    gpu.processes_state = ValueState::known;
    sample.device_list = &devices;
  }
  std::vector<Verdict> judged() {
    monitor.add(sample);
    return judge({sample, monitor});
  }
};

const Verdict* find(const std::vector<Verdict>& verdicts, std::string_view id) {
  for (const Verdict& verdict : verdicts) {
    if (verdict.finding.rule == id) return &verdict;
  }
  return nullptr;
}

TEST(DrmReport, ProcessesThatCannotBeSeenAreSaid) {
  Machine machine("amdgpu");
  EXPECT_EQ(status_text(machine.sample, {}, {}).find("CAP_SYS_PTRACE"), std::string::npos);
  machine.devices[0].unreadable_processes = 17;
  const std::string text = status_text(machine.sample, {}, {});
  EXPECT_NE(text.find("17 processes of other users may use a GPU too"), std::string::npos) << text;
  EXPECT_NE(status_json(machine.sample, {}).find("\"unreadable_processes\":17"), std::string::npos);
}

TEST(DrmReport, MemoryOfUnseenProcessesIsNoAlarm) {
  Machine machine("amdgpu");
  const auto alarmed = machine.judged();
  const Verdict* verdict = find(alarmed, "unaccounted-memory");
  ASSERT_NE(verdict, nullptr);
  EXPECT_EQ(verdict->finding.severity, Severity::warning);
  machine.devices[0].unreadable_processes = 17;
  const auto calm = machine.judged();
  verdict = find(calm, "unaccounted-memory");
  ASSERT_NE(verdict, nullptr);
  EXPECT_EQ(verdict->finding.severity, Severity::info);
}

// No sentence may send the owner of another card to NVIDIA's tools.
TEST(DrmReport, AdviceFitsTheMaker) {
  for (const char* const driver : {"amdgpu", ""}) {
    Machine machine(driver);
    DeviceSample& gpu = machine.devices[0];
    gpu.values.set(M::ecc_errors_uncorrected_volatile_total, 2);
    std::string text;
    for (const std::int64_t reason : {0x4, 0x8, 0x20, 0x40, 0x80}) {
      gpu.values.set(M::clocks_event_reasons_active, reason);
      text += verdicts_text(machine.judged());
    }
    gpu.is_lost = true;
    text += verdicts_text(machine.judged());
    const bool is_nvidias = *driver == '\0';
    EXPECT_EQ(text.find("nvidia") != std::string::npos, is_nvidias) << text;
    EXPECT_EQ(text.find("xid") != std::string::npos, is_nvidias) << text;
  }
}

TEST(DrmReport, ACardAsleepIsNotTakenForABrokenOne) {
  Machine machine("amdgpu");
  machine.devices[0].values.set_text(M::power_state, "suspended");
  EXPECT_NE(status_text(machine.sample, {}, {}).find("GPU 0 sleeps"), std::string::npos);
}

}  // namespace
}  // namespace vramscope
