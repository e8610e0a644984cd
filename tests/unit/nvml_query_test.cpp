// What only a full query asks a driver for.
#include <gtest/gtest.h>

#include "nvml_stand_in.h"

namespace vramscope {
namespace {

using M = Metric;

const char* const kBoard = R"(
gpu
text name NVIDIA H100 80GB HBM3
text uuid GPU-df6e7a7c-7314-46f8-abc4-b88b36dcf3aa
set brand 14
set pdi 0xd52bae2e458244e2
set board.multi 1
set board.id 0xc00
text board.part 692-2G520-0200-000
text gsp.version 595.71.05
set virtualization 1
set vgpu.host 1
set vgpu.heterogeneous 1
set bbx.time 1689000000123456
set bbx.duration 118
set fbc.sessions 3
set fbc.fps 60
set fbc.latency 900
set encryption.current 1
set encryption.pending 0
set repair.channel 1
set repair.tpc 0
set unrepairable 1
set threshold.5 84
set threshold.4 65
set threshold.6 91
field 193 -8
field 194 -2
field 195 0
field 196 3
field 95 5
field 228 63
field 229 0
field 186/2 1500
set clock.boost.0 1980
set autoboost.current 1
set autoboost.default 0
set capabilities 1
clocks 2619 1980 1965
clocks 1593 1410
samples 0 3000 1000 2000
samples 1
set retired.0 2
)";

Wanted everything() {
  Wanted wanted;
  wanted.metrics.set();
  return wanted;
}

class NvmlQuery : public Nvml {};

TEST_F(NvmlQuery, ValuesAreTold) {
  auto source = open(kBoard);
  ASSERT_TRUE(source);
  const DeviceSample& gpu = (*source)->sample(everything(), 0)[0];
  EXPECT_EQ(gpu.text(M::product_brand), "NVIDIA");
  EXPECT_EQ(static_cast<std::uint64_t>(gpu.number(M::pdi).value_or(0)), 0xd52bae2e458244e2U);
  EXPECT_EQ(gpu.number(M::board_is_multi_gpu), 1);
  EXPECT_EQ(gpu.number(M::board_id), 0xc00);
  EXPECT_EQ(gpu.text(M::board_part_number), "692-2G520-0200-000");
  EXPECT_EQ(gpu.text(M::gsp_firmware_version), "595.71.05");
  EXPECT_EQ(gpu.number(M::virtualization_mode), 1);
  EXPECT_EQ(gpu.number(M::virtualization_host_vgpu_mode), 1);
  EXPECT_EQ(gpu.number(M::virtualization_vgpu_heterogeneous), 1);
  EXPECT_EQ(gpu.number(M::inforom_flush_time), 1689000000123456);
  EXPECT_EQ(gpu.number(M::inforom_flush_duration), 118);
  EXPECT_EQ(gpu.number(M::capture_stats_session_count), 3);
  EXPECT_EQ(gpu.number(M::capture_stats_average_latency), 900);
  EXPECT_EQ(gpu.number(M::dram_encryption_mode_current), 1);
  EXPECT_EQ(gpu.number(M::dram_encryption_mode_pending), 0);
  EXPECT_EQ(gpu.number(M::ecc_repair_channel_pending), 1);
  EXPECT_EQ(gpu.number(M::ecc_repair_tpc_pending), 0);
  EXPECT_EQ(gpu.number(M::ecc_unrepairable_memory), 1);
  EXPECT_EQ(gpu.number(M::temperature_target), 84);
  EXPECT_EQ(gpu.number(M::temperature_target_min), 65);
  EXPECT_EQ(gpu.number(M::temperature_target_max), 91);
  EXPECT_EQ(gpu.number(M::temperature_shutdown_tlimit), -8);
  EXPECT_EQ(gpu.number(M::temperature_gpu_max_tlimit), 3);
  EXPECT_EQ(gpu.number(M::pcie_replay_rollovers), 5);
  EXPECT_EQ(gpu.number(M::pcie_atomics_outbound), 63);
  EXPECT_EQ(gpu.number(M::power_draw_memory_instant), 1500);
  EXPECT_EQ(gpu.number(M::clocks_max_customer_boost), 1980);
  EXPECT_EQ(gpu.number(M::auto_boost), 1);
  EXPECT_EQ(gpu.number(M::auto_boost_default), 0);
  EXPECT_EQ(gpu.number(M::capability_egm), 1);
}

TEST_F(NvmlQuery, ListsAreTold) {
  auto source = open(kBoard);
  ASSERT_TRUE(source);
  (*source)->sample({}, 0);
  const auto clocks = (*source)->supported_clocks(0);
  ASSERT_TRUE(clocks);
  ASSERT_EQ(clocks->size(), 2u);
  EXPECT_EQ((*clocks)[0].memory_mhz, 2619);
  EXPECT_EQ((*clocks)[0].graphics_mhz, (std::vector<std::int64_t>{1980, 1965}));
  EXPECT_EQ((*clocks)[1].graphics_mhz, (std::vector<std::int64_t>{1410}));
  const auto power = (*source)->recent(0, RecentKind::power);
  ASSERT_TRUE(power);
  EXPECT_EQ(power->count, 3);
  EXPECT_EQ(power->most, 3000);
  EXPECT_EQ(power->least, 1000);
  EXPECT_EQ(power->mean, 2000);
  EXPECT_EQ(power->duration_us, 40000);
  const auto none_yet = (*source)->recent(0, RecentKind::gpu);
  ASSERT_FALSE(none_yet);
  EXPECT_EQ(none_yet.error().driver_code, 6);
  const auto unsupported = (*source)->recent(0, RecentKind::ofa);
  ASSERT_FALSE(unsupported);
  EXPECT_EQ(unsupported.error().driver_code, 3);
  const auto pages = (*source)->retired_pages(0, RetirementCause::single_bit_errors);
  ASSERT_TRUE(pages);
  EXPECT_EQ(*pages, (std::vector<std::uint64_t>{0x1000, 0x2000}));
  EXPECT_FALSE((*source)->retired_pages(0, RetirementCause::double_bit_error));
  EXPECT_FALSE((*source)->supported_clocks(1));  // there is no such GPU
}

TEST_F(NvmlQuery, OlderLibrariesHaveNone) {
  for (const char* set : {"middle", "old", "half"}) {
    use(set);
    auto source = open(kBoard);
    ASSERT_TRUE(source) << set;
    const DeviceSample& gpu = (*source)->sample(everything(), 0)[0];
    for (const M metric : {M::product_brand, M::pdi, M::board_id, M::gsp_firmware_version, M::ecc_unrepairable_memory,
                           M::capability_egm, M::clocks_max_customer_boost}) {
      EXPECT_EQ(gpu.values[metric].state, ValueState::not_supported) << set << info_of(metric).name;
    }
    EXPECT_EQ((*source)->supported_clocks(0).error().driver_code, 3) << set;
    EXPECT_EQ((*source)->recent(0, RecentKind::power).error().driver_code, 3) << set;
  }
}

// None of it is a matter of looks at a rhythm.
TEST_F(NvmlQuery, LiveLooksDoNotAskForIt) {
  auto source = open(kBoard);
  ASSERT_TRUE(source);
  for (int i = 0; i < 5; ++i) (*source)->sample(live_wanted(), i);
  for (const char* function : {"nvmlDeviceGetBrand", "nvmlDeviceGetPdi", "nvmlDeviceGetRepairStatus",
                               "nvmlDeviceGetFBCStats", "nvmlDeviceGetLastBBXFlushTime", "nvmlDeviceGetSamples",
                               "nvmlDeviceGetSupportedMemoryClocks", "nvmlDeviceGetCapabilities"}) {
    EXPECT_EQ(calls(function), 0) << function;
  }
}

}  // namespace
}  // namespace vramscope
