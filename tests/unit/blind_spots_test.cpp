// A driver that refuses to tell, is slow, or knows more names than the host: what one look makes of it.
#include "report/blind_spots.h"

#include <algorithm>

#include "monitor/monitor.h"
#include "monitor/verdict_rule.h"
#include "nvml_stand_in.h"
#include "report/status.h"
#include "sampling/sampler.h"

namespace vramscope {
namespace {

constexpr const char* kGpu =
    "driver 590.48.01\ncuda 13010\ngpu\n  text name NVIDIA H100\n  text uuid GPU-1\n  set memory.total 80G\n"
    "  set memory.used 400M\n  set memory.free 79G\n  set memory.reserved 0\n";
constexpr const char* kNoMemory = "error nvmlDeviceGetMemoryInfo 0 4\nerror nvmlDeviceGetMemoryInfo_v2 0 4\n";
constexpr const char* kNoLists =
    "error nvmlDeviceGetComputeRunningProcesses 0 4\nerror nvmlDeviceGetComputeRunningProcesses_v2 0 4\n"
    "error nvmlDeviceGetComputeRunningProcesses_v3 0 4\nerror nvmlDeviceGetGraphicsRunningProcesses 0 4\n"
    "error nvmlDeviceGetGraphicsRunningProcesses_v2 0 4\nerror nvmlDeviceGetGraphicsRunningProcesses_v3 0 4\n";

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

class BlindSpots : public Nvml {
 protected:
  // One look; the text is without line breaks.
  const LiveSample& look(const std::string& script) {
    write(script);
    SamplerOptions options;
    options.device = "nvml";
    auto opened = open_sampler(options);
    EXPECT_TRUE(static_cast<bool>(opened)) << (opened ? "" : opened.error().message);
    sampler_ = std::move(*opened);
    return look_again();
  }
  const LiveSample& look_again() {
    const LiveSample* sample = sampler_->sample();
    monitor_.add(*sample);
    const std::vector<Verdict> verdicts = judge({*sample, monitor_});
    text_ = status_text(*sample, verdicts, {});
    json_ = status_json(*sample, verdicts);
    std::replace(text_.begin(), text_.end(), '\n', ' ');
    return *sample;
  }

  std::unique_ptr<Sampler> sampler_;
  Monitor monitor_;
  std::string text_, json_;
};

TEST_F(BlindSpots, AWholeLookHasNone) {
  const LiveSample& sample = look(std::string(kGpu) + "  set utilization.gpu 50\n");
  EXPECT_TRUE(blind_spots(sample).empty());
  EXPECT_TRUE(tells_anything(sample));
  EXPECT_TRUE(has(text_, "Nothing wrong was found. ")) << text_;
  EXPECT_FALSE(has(json_, "not_seen"));
}

TEST_F(BlindSpots, AnotherUsersMemoryIsNotHealthy) {
  const LiveSample& sample = look(std::string(kGpu) + "  set temperature.0 40\n" + kNoMemory + kNoLists);
  ASSERT_EQ(blind_spots(sample).size(), 2u);
  EXPECT_TRUE(tells_anything(sample));
  EXPECT_TRUE(has(text_, "GPU 0: the driver does not let you see its memory; look as root")) << text_;
  EXPECT_TRUE(has(text_, "GPU 0: its processes are not for you to see")) << text_;
  EXPECT_FALSE(has(text_, "Nothing wrong was found. ")) << text_;
  EXPECT_TRUE(has(text_, "Nothing wrong was found in what could be seen.")) << text_;
  EXPECT_TRUE(has(json_, R"("not_seen":[{"gpu":0,"what":"memory","why":"no_permission"},)"
                         R"({"gpu":0,"what":"processes","why":"no_permission"}])"))
      << json_;
}

TEST_F(BlindSpots, AFailureIsToldWithItsCode) {
  look(std::string(kGpu) + "error nvmlDeviceGetMemoryInfo 0 999\nerror nvmlDeviceGetMemoryInfo_v2 0 999\n");
  EXPECT_TRUE(has(text_, "GPU 0: the driver cannot tell its memory just now (error 999)")) << text_;
}

TEST_F(BlindSpots, AGpuThatTellsNothingIsNoLook) {
  EXPECT_FALSE(tells_anything(
      look("driver 590.48.01\ngpu\n  text name NVIDIA H100\n  text uuid GPU-1\n" + std::string(kNoMemory) + kNoLists)));
}

TEST_F(BlindSpots, AGpuThatWasLostFromTheStartIsNamedByItsNumber) {
  look("driver 590.48.01\ngpu\n  lost 0\n");
  EXPECT_TRUE(has(text_, "GPU 0 is lost")) << text_;
  EXPECT_TRUE(has(text_, "GPU 0 does not answer any more")) << text_;
}

TEST_F(BlindSpots, ASlowDriverIsAVerdict) {
  const LiveSample& sample =
      look(std::string(kGpu) + "  set utilization.gpu 50\nlatency nvmlDeviceGetMemoryInfo_v2 1100000\n");
  ASSERT_TRUE(sample.answer_ns);
  EXPECT_GE(*sample.answer_ns, 1'100'000'000);
  EXPECT_TRUE(has(text_, "The driver took 1.1")) << text_;
  EXPECT_TRUE(has(json_, R"("id":"slow-driver","severity":"warning")")) << json_;
}

TEST_F(BlindSpots, NamesThatTheDriverAloneKnowsAreAskedForOnce) {
  // No process of this machine can have such a pid.
  const LiveSample& sample =
      look(std::string(kGpu) + "  process C 2000000042 4G\n  name 2000000042 /opt/venv/bin/python3\n" +
           "  process C 2000000043 1G\n");
  ASSERT_NE(sample.find(2000000042), nullptr);
  EXPECT_EQ(shown_name(*sample.find(2000000042)), "/opt/venv/bin/python3");
  EXPECT_EQ(shown_name(*sample.find(2000000043)), "");
  EXPECT_TRUE(has(text_, "/opt/venv/bin/python3")) << text_;
  EXPECT_TRUE(has(json_, R"("visible":"absent","driver_name":"/opt/venv/bin/python3")")) << json_;
  EXPECT_EQ(calls("nvmlSystemGetProcessName"), 2);
  for (int i = 0; i < 5; ++i) look_again();
  EXPECT_EQ(calls("nvmlSystemGetProcessName"), 2);
  const HolderHistory* holder = monitor_.find_holder({2000000042, 0}, "GPU-1");
  ASSERT_NE(holder, nullptr);
  EXPECT_EQ(holder->name, "/opt/venv/bin/python3");
}

}  // namespace
}  // namespace vramscope
