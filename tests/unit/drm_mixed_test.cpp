// A machine with cards of several makers: NVIDIA's through the stand-in of its library, the others from
// tests/roots/drm.
#include <gtest/gtest.h>

#include <cstdlib>

#include "drm_tree.h"
#include "sampling/sampler.h"

namespace vramscope {
namespace {

using M = Metric;

class MixedMachine : public DrmTree {
 protected:
  void SetUp() override {
    DrmTree::SetUp();
    build("mixed");
    write("script", "gpu\ntext name NVIDIA GeForce RTX 4090\nset memory.total 24564M\nset memory.used 1024M\n");
    setenv("VRAMSCOPE_STAND_IN", (root_ / "script").c_str(), 1);
    setenv("VRAMSCOPE_NVML", (std::string(VRAMSCOPE_STAND_INS) + "/new/libnvidia-ml.so.1").c_str(), 1);
    setenv("VRAMSCOPE_SYS", (root_ / "sys").c_str(), 1);
    setenv("VRAMSCOPE_PROC", (root_ / "proc").c_str(), 1);
  }
  void TearDown() override {
    for (const char* const name : {"VRAMSCOPE_STAND_IN", "VRAMSCOPE_NVML", "VRAMSCOPE_SYS", "VRAMSCOPE_PROC"}) {
      unsetenv(name);
    }
    DrmTree::TearDown();
  }
};

TEST_F(MixedMachine, IsOneListInAStableOrder) {
  auto opened = open_all_devices({}, root_ / "sys");
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_TRUE(opened->missing.empty());
  for (int i = 0; i < 3; ++i) {
    const auto& samples = opened->source->sample(live_wanted(), 0);
    ASSERT_EQ(samples.size(), 3u);
    const char* const kNames[] = {"NVIDIA GeForce RTX 4090", "AMD Radeon 680M", "AMD Radeon PRO W6800"};
    for (int place = 0; place < 3; ++place) {
      const DeviceSample& device = samples[static_cast<std::size_t>(place)];
      EXPECT_EQ(device.text(M::name), kNames[place]);
      EXPECT_EQ(device.index, place);
    }
    EXPECT_EQ(samples[0].number(M::memory_used), 1LL << 30);
  }
}

TEST_F(MixedMachine, SmiAloneTakesTheFirstBackend) {
  auto source = open_devices({});
  ASSERT_TRUE(source);
  EXPECT_EQ((*source)->sample(live_wanted(), 0).size(), 1u);
}

TEST_F(MixedMachine, ALibraryThatDoesNotOpenIsTold) {
  setenv("VRAMSCOPE_NVML", "/nowhere/libnvidia-ml.so.1", 1);
  auto sampler = open_sampler({});
  ASSERT_TRUE(sampler);
  const LiveSample* sample = (*sampler)->sample();
  ASSERT_NE(sample, nullptr);
  ASSERT_EQ(sample->devices().size(), 2u);
  EXPECT_EQ(sample->devices()[0].index, 0);
  ASSERT_NE(sample->missing_backends, nullptr);
  ASSERT_EQ(sample->missing_backends->size(), 1u);
  EXPECT_STREQ(sample->missing_backends->front().name, "nvml");
  // The processes are those of the root, too.
  ASSERT_NE(sample->find(6100), nullptr);
  EXPECT_EQ(sample->find(6100)->process.name, "gnome-shell");
  // Without the module there is nothing to miss.
  std::filesystem::remove_all(root_ / "sys/module/nvidia");
  auto other = open_sampler({});
  ASSERT_TRUE(other);
  EXPECT_EQ((*other)->sample()->missing_backends, nullptr);
}

TEST_F(MixedMachine, NeitherIsTheErrorOfTheFirst) {
  setenv("VRAMSCOPE_NVML", "/nowhere/libnvidia-ml.so.1", 1);
  std::filesystem::remove_all(root_ / "sys/class/drm");
  const auto opened = open_all_devices({}, root_ / "sys");
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("/nowhere/libnvidia-ml.so.1"), std::string::npos);
}

}  // namespace
}  // namespace vramscope
