// Clients of NVIDIA's Multi-Process Service: who they are, and what it costs to know where there are none.
#include <gtest/gtest.h>

#include "devices/backend.h"
#include "nvml_stand_in.h"
#include "report/status.h"
#include "sampling/sampler.h"

namespace vramscope {
namespace {

using NvmlMps = Nvml;

// A server, a client that is on both lists, one on the list of clients alone, and a program that is neither.
const char* const kServed = R"(
gpu
text name A
set memory.total 80G
set memory.used 12G
process C 10 30M
process C 11 -
process C 13 3G
process M 11 2G
process M 12 4G
)";
constexpr const char* kList[] = {"nvmlDeviceGetMPSComputeRunningProcesses_v3",
                                 "nvmlDeviceGetMPSComputeRunningProcesses_v2",
                                 "nvmlDeviceGetMPSComputeRunningProcesses"};

void expect_clients(const DeviceSample& gpu, const std::string& what) {
  ASSERT_EQ(gpu.processes.size(), 4u) << what;
  const std::int64_t pids[] = {10, 11, 13, 12};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(gpu.processes[i].pid, pids[i]) << what;
    EXPECT_EQ(gpu.processes[i].is_mps, pids[i] == 11 || pids[i] == 12) << what << ' ' << pids[i];
    EXPECT_EQ(gpu.processes[i].type, ProcessType::compute) << what;
  }
  EXPECT_EQ(gpu.processes[1].used_bytes, 2LL << 30) << what;  // what one list does not tell, the other may
  EXPECT_EQ(gpu.processes[3].used_bytes, 4LL << 30) << what;
}

TEST_F(NvmlMps, ClientsAreMarkedByEveryVersionOfTheList) {
  const std::pair<const char*, const char*> sets[] = {{"new", kList[0]}, {"middle", kList[1]}, {"old", kList[2]}};
  for (const auto& [set, function] : sets) {
    use(set);
    auto source = open(kServed);
    ASSERT_TRUE(source) << set;
    expect_clients((*source)->sample(live_wanted(), 0)[0], set);
    expect_clients((*source)->sample(live_wanted(), 1)[0], set);
    EXPECT_EQ(calls(function), 2) << set;
  }
}

TEST_F(NvmlMps, ASymbolWithoutTheFunctionBehindItIsTheNextOlderOne) {
  auto source = open(std::string(kServed) + "error " + kList[0] + " 0 13\n");
  ASSERT_TRUE(source);
  expect_clients((*source)->sample(live_wanted(), 0)[0], "v2");
  auto oldest = open(std::string(kServed) + "error " + kList[0] + " 0 13\nerror " + kList[1] + " 0 13\n");
  ASSERT_TRUE(oldest);
  expect_clients((*oldest)->sample(live_wanted(), 0)[0], "v1");
}

TEST_F(NvmlMps, WithoutTheListTheOthersStay) {
  for (const int code : {3, 4, 13, 999}) {
    std::string script = kServed;
    for (const char* function : kList) script += std::string("error ") + function + " 0 " + std::to_string(code) + "\n";
    auto source = open(script);
    ASSERT_TRUE(source);
    for (int i = 0; i < 3; ++i) {
      const DeviceSample& gpu = (*source)->sample(live_wanted(), i)[0];
      EXPECT_EQ(gpu.processes_state, ValueState::known) << code;
      ASSERT_EQ(gpu.processes.size(), 3u) << code;
      for (const DeviceProcess& process : gpu.processes) EXPECT_FALSE(process.is_mps) << code;
    }
    EXPECT_EQ(calls(kList[0]), 1) << code;
  }
  use("half");
  auto half = open(kServed);
  ASSERT_TRUE(half);
  EXPECT_EQ((*half)->sample(live_wanted(), 0)[0].processes_state, ValueState::not_supported);
}

TEST_F(NvmlMps, AGpuThatIsLostThereIsLost) {
  auto source = open(std::string(kServed) + "error " + kList[0] + " 0 15\n");
  ASSERT_TRUE(source);
  EXPECT_TRUE((*source)->sample(live_wanted(), 0)[0].is_lost);
}

TEST_F(NvmlMps, AClientThatDrawsIsOneProcess) {
  auto source = open(std::string(kServed) + "process G 12 1G\n");
  ASSERT_TRUE(source);
  const DeviceSample& gpu = (*source)->sample(live_wanted(), 0)[0];
  ASSERT_EQ(gpu.processes.size(), 4u);
  EXPECT_EQ(gpu.processes[3].type, ProcessType::compute_and_graphics);
  EXPECT_TRUE(gpu.processes[3].is_mps);
}

TEST_F(NvmlMps, WithoutClientsTheListIsSeldomAskedFor) {
  auto source = open("gpu\ntext name A\nset memory.total 1G\nset memory.used 1M\nprocess C 10 30M\n");
  ASSERT_TRUE(source);
  for (int i = 0; i < 61; ++i) (*source)->sample(live_wanted(), i);
  EXPECT_EQ(calls(kList[0]), 1);
  (*source)->sample(live_wanted(), 61);
  EXPECT_EQ(calls(kList[0]), 2);
}

TEST_F(NvmlMps, AProcessThatComesIsAReasonToAsk) {
  auto source = open("gpu\ntext name A\nset memory.total 1G\nset memory.used 1M\nprocess C 10 30M\n");
  ASSERT_TRUE(source);
  for (int i = 0; i < 3; ++i) (*source)->sample(live_wanted(), i);
  EXPECT_EQ(calls(kList[0]), 1);
  add_line("process C 11 30M");
  add_line("process M 11 30M");
  EXPECT_TRUE((*source)->sample(live_wanted(), 3)[0].processes[1].is_mps);
  EXPECT_EQ(calls(kList[0]), 2);
  EXPECT_TRUE((*source)->sample(live_wanted(), 4)[0].processes[1].is_mps);
}

TEST_F(NvmlMps, ASampleWithClientsNeedsAtMostTwelveCallsAGpu) {
  std::string script = kServed;
  script.replace(script.find("gpu\n"), 4, "gpu 8\n");
  script += "share 11 90 40 0 0\nset temperature.0 62\nset clock.1 1755\nset power 520000\n";
  auto source = open(script);
  ASSERT_TRUE(source);
  for (int i = 0; i < 2; ++i) (*source)->sample(live_wanted(), i);
  const long long before = total();
  (*source)->sample(live_wanted(), 2);
  EXPECT_LE(total() - before, 8 * 12 + 1);
  EXPECT_EQ(calls(kList[0]), 3 * 8);
}

TEST_F(NvmlMps, StatusTellsThem) {
  write(kServed);
  SamplerOptions options;
  options.device = "nvml";
  auto sampler = open_sampler(options);
  ASSERT_TRUE(sampler) << sampler.error().message;
  const LiveSample& sample = *(*sampler)->sample();
  const std::string json = status_json(sample, {});
  EXPECT_NE(json.find(R"("pid":11,"type":"compute","mps":true,)"), json.npos) << json;
  EXPECT_NE(json.find(R"("pid":12,"type":"compute","mps":true,)"), json.npos) << json;
  EXPECT_NE(json.find(R"("pid":13,"type":"compute","used_bytes")"), json.npos) << json;
  EXPECT_NE(status_text(sample, {}, {}).find("M+C"), std::string::npos);
}

}  // namespace
}  // namespace vramscope
