// The real loading code on a management library without hardware (tests/stand_ins/nvml).
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "devices/backend.h"
#include "model/metric_smi.h"
#include "nvml_stand_in.h"

namespace vramscope {
namespace {

using M = Metric;

const char* const kFull = R"(
gpu
text name NVIDIA H100 80GB HBM3
text uuid GPU-df6e7a7c-7314-46f8-abc4-b88b36dcf3aa
text serial 1654422006434
text vbios 96.00.A5.00.01
text inforom.img G520.0200.00.05
text inforom.0 2.1
text inforom.1 7.16
set memory.total 81559M
set memory.reserved 479M
set memory.used 19818M
set memory.free 61263M
set bar1.total 131072M
set bar1.used 5M
set protected.total 0
set utilization.gpu 97
set utilization.memory 11
set encoder 1
set decoder 2
set jpeg 3
set ofa 4
set encoder.sessions 2
set encoder.fps 107
set encoder.latency 99454
set temperature.0 59
set temperature.tlimit 26
set threshold.0 92
set threshold.1 89
set threshold.2 95
set threshold.3 87
field 82 54
field 83 123456789
field 185 631950
field 186 625680
field 185/2 93980
field 190 700000
field 192 650000
set power 1
set power.default 700000
set power.min 200000
set power.max 700000
set clock.0 1980
set clock.1 1975
set clock.2 2619
set clock.3 1545
set clock.max.0 1981
set clock.max.1 1982
set clock.max.2 2620
set clock.max.3 1546
set pstate 0
set reasons 0x64
set reasons.supported 0x1FF
field 74 212553937000
field 269 5000
set pcie.gen 5
set pcie.width 16
set pcie.gen.max 5
set pcie.gen.gpumax 5
set pcie.width.max 16
set pcie.throughput.0 9139
set pcie.throughput.1 19191
field 94 9
field 91 18
field 138/0xFFFFFFFF 10
field 38 1
set ecc.current 1
set ecc.pending 1
field 3 7
field 4 1
field 5 70
field 6 10
field 11 6
field 9 5
set ecc.0.0.7 3
set sram 100
set sram.exceeded 1
field 29 2
field 30 1
field 31 0
field 142 4
field 143 2
field 144 1
field 145 0
set histogram.max 2560
set histogram.none 8
field 230 1
set compute_mode 0
set compute_cap 90
set architecture 9
set persistence 1
set display.mode 1
set display.active 0
set accounting 0
set accounting.size 4000
set addressing 1
set gsp.current 1
set gsp.default 1
set c2c 0
set mig.current 0
set mig.pending 0
set minor 3
set fabric.state 3
set fabric.clique 7
set fabric.health 0x2009
set fabric.summary 1
set module 7
set pci.bus 9
set pci.id 0x233010DE
set pci.subsystem 0x16C110DE
set pci.class 3
set pci.subclass 2
set gpm 1
set gpm.2 71
set gpm.10 42
set gpm.20 3
field 274 100
process C 11327 8192M
process C 11345 -
process G 11345 64M
share 11345 99 10 0 0
)";

Wanted everything() {
  Wanted wanted;
  wanted.metrics.set();
  wanted.processes = wanted.process_utilisation = true;
  return wanted;
}

TEST_F(Nvml, EveryValueArrives) {
  auto source = open(kFull);
  ASSERT_TRUE(source) << source.error().message;
  (*source)->sample(everything(), 0);  // GPM needs two
  const auto& samples = (*source)->sample(everything(), 1);
  ASSERT_EQ(samples.size(), 1u);
  const DeviceSample& gpu = samples[0];
  EXPECT_FALSE(gpu.is_lost);
  const std::pair<M, std::int64_t> numbers[] = {
      {M::index, 0},
      {M::count, 1},
      {M::memory_total, 81559LL << 20},
      {M::memory_reserved, 479LL << 20},
      {M::memory_used, 19818LL << 20},
      {M::memory_free, 61263LL << 20},
      {M::bar1_total, 131072LL << 20},
      {M::bar1_used, 5LL << 20},
      {M::protected_memory_total, 0},
      {M::utilization_gpu, 97},
      {M::utilization_memory, 11},
      {M::utilization_encoder, 1},
      {M::utilization_decoder, 2},
      {M::utilization_jpeg, 3},
      {M::utilization_ofa, 4},
      {M::encoder_stats_session_count, 2},
      {M::encoder_stats_average_fps, 107},
      {M::encoder_stats_average_latency, 99454},
      {M::temperature_gpu, 59},
      {M::temperature_gpu_tlimit, 26},
      {M::temperature_memory, 54},
      {M::temperature_shutdown, 92},
      {M::temperature_slowdown, 89},
      {M::temperature_memory_max, 95},
      {M::temperature_gpu_max, 87},
      {M::energy_total, 123456789},
      {M::power_draw, 631950},
      {M::power_draw_average, 631950},
      {M::power_draw_instant, 625680},
      {M::power_draw_memory, 93980},
      {M::enforced_power_limit, 700000},
      {M::power_limit, 650000},
      {M::power_default_limit, 700000},
      {M::power_min_limit, 200000},
      {M::power_max_limit, 700000},
      {M::clocks_current_graphics, 1980},
      {M::clocks_current_sm, 1975},
      {M::clocks_current_memory, 2619},
      {M::clocks_current_video, 1545},
      {M::clocks_max_graphics, 1981},
      {M::clocks_max_sm, 1982},
      {M::clocks_max_memory, 2620},
      {M::clocks_max_video, 1546},
      {M::pstate, 0},
      {M::clocks_event_reasons_active, 0x64},
      {M::clocks_event_reasons_supported, 0x1FF},
      {M::clocks_event_reasons_gpu_idle, 0},
      {M::clocks_event_reasons_sw_power_cap, 1},
      {M::clocks_event_reasons_sw_thermal_slowdown, 1},
      {M::clocks_event_reasons_hw_thermal_slowdown, 1},
      {M::clocks_event_reasons_counters_sw_power_cap, 212553937},
      {M::clocks_event_reasons_counters_sw_thermal_slowdown, 5},
      {M::pcie_link_gen_current, 5},
      {M::pcie_link_width_current, 16},
      {M::pcie_link_gen_max, 5},
      {M::pcie_link_gen_gpumax, 5},
      {M::pcie_link_width_max, 16},
      {M::pcie_throughput_tx, 9139 * 1024},
      {M::pcie_throughput_rx, 19191 * 1024},
      {M::pcie_replays, 9},
      {M::nvlink_links, 18},
      {M::nvlink_tx, 10240},
      {M::nvlink_errors_crc, 1},
      {M::xid_last, 0},
      {M::ecc_mode_current, 1},
      {M::ecc_errors_corrected_volatile_total, 7},
      {M::ecc_errors_uncorrected_volatile_total, 1},
      {M::ecc_errors_corrected_aggregate_total, 70},
      {M::ecc_errors_uncorrected_aggregate_total, 10},
      {M::ecc_errors_corrected_volatile_dram, 6},
      {M::ecc_errors_corrected_volatile_device_memory, 6},
      {M::ecc_errors_corrected_volatile_l2_cache, 5},
      {M::ecc_errors_corrected_volatile_sram, 3},
      {M::ecc_errors_uncorrected_aggregate_sram_parity, 100},
      {M::ecc_errors_uncorrected_aggregate_sram_secded, 101},
      {M::ecc_errors_uncorrected_volatile_sram_parity, 103},
      {M::ecc_errors_uncorrected_volatile_sram_secded, 104},
      {M::ecc_errors_uncorrected_aggregate_sram_l2, 106},
      {M::ecc_errors_uncorrected_aggregate_sram_sm, 107},
      {M::ecc_errors_uncorrected_aggregate_sram_pcie, 108},
      {M::ecc_errors_uncorrected_aggregate_sram_mcu, 109},
      {M::ecc_errors_uncorrected_aggregate_sram_other, 110},
      {M::ecc_errors_uncorrected_aggregate_sram_threshold_exceeded, 1},
      {M::retired_pages_single_bit_ecc_count, 2},
      {M::retired_pages_double_bit_count, 1},
      {M::retired_pages_pending, 0},
      {M::remapped_rows_correctable, 4},
      {M::remapped_rows_uncorrectable, 2},
      {M::remapped_rows_pending, 1},
      {M::remapped_rows_failure, 0},
      {M::remapped_rows_histogram_max, 2560},
      {M::remapped_rows_histogram_none, 8},
      {M::gpu_recovery_action, 1},
      {M::compute_mode, 0},
      {M::persistence_mode, 1},
      {M::display_attached, 1},
      {M::display_active, 0},
      {M::accounting_mode, 0},
      {M::accounting_buffer_size, 4000},
      {M::addressing_mode, 1},
      {M::gsp_mode_current, 1},
      {M::c2c_mode, 0},
      {M::mig_mode_current, 0},
      {M::minor_number, 3},
      {M::fabric_state, 3},
      {M::fabric_clique_id, 7},
      {M::fabric_health_summary, 1},
      {M::fabric_health_bandwidth, 1},
      {M::fabric_health_route_recovery_in_progress, 0},
      {M::fabric_health_partition_assigned, 0},
      {M::platform_module_id, 7},
      {M::pci_domain, 0},
      {M::pci_bus, 9},
      {M::pci_device_id, 0x233010DE},
      {M::pci_sub_device_id, 0x16C110DE},
      {M::pci_base_class, 3},
      {M::pci_sub_class, 2},
      {M::edpp_multiplier, 100},
      {M::gpm_sm_active, 71},
      {M::gpm_dram_active, 42},
      {M::gpm_pcie_tx, 3LL << 20},
  };
  for (const auto& [metric, number] : numbers) EXPECT_EQ(gpu.number(metric), number) << info_of(metric).name;
  EXPECT_EQ(gpu.text(M::name), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(gpu.text(M::uuid), "GPU-df6e7a7c-7314-46f8-abc4-b88b36dcf3aa");
  EXPECT_EQ(gpu.text(M::serial), "1654422006434");
  EXPECT_EQ(gpu.text(M::pci_bus_id), "00000000:09:00.0");
  EXPECT_EQ(gpu.text(M::vbios_version), "96.00.A5.00.01");
  EXPECT_EQ(gpu.text(M::inforom_img), "G520.0200.00.05");
  EXPECT_EQ(gpu.text(M::inforom_oem), "2.1");
  EXPECT_EQ(gpu.text(M::inforom_ecc), "7.16");
  EXPECT_EQ(gpu.text(M::inforom_checksum_validation), "valid");
  EXPECT_EQ(gpu.text(M::driver_version), "590.48.01");
  EXPECT_EQ(gpu.text(M::cuda_version), "13.1");
  EXPECT_EQ(gpu.text(M::compute_cap), "9.0");
  EXPECT_EQ(gpu.text(M::architecture), "Hopper");
  EXPECT_EQ(gpu.text(M::fabric_status), "Success");
  EXPECT_EQ(gpu.text(M::fabric_cluster_uuid), "00010203-0405-0607-0809-0a0b0c0d0e0f");
  // What the script does not tell is not supported, and nothing is left open.
  EXPECT_EQ(gpu.values[M::fan_speed].state, ValueState::not_supported);
  EXPECT_EQ(gpu.values[M::gpm_tensor_active].state, ValueState::not_supported);
  for (const MetricInfo& info : metric_table()) {
    EXPECT_NE(gpu.values[info.id].state, ValueState::not_asked) << info.name;
  }
}

TEST_F(Nvml, ProcessesOfBothListsAreJoined) {
  auto source = open(kFull);
  ASSERT_TRUE(source);
  const DeviceSample& gpu = (*source)->sample(live_wanted(), 0)[0];
  ASSERT_EQ(gpu.processes.size(), 2u);
  EXPECT_EQ(gpu.processes_state, ValueState::known);
  EXPECT_EQ(gpu.processes[0].pid, 11327);
  EXPECT_EQ(gpu.processes[0].type, ProcessType::compute);
  EXPECT_EQ(gpu.processes[0].used_bytes, 8192LL << 20);
  EXPECT_EQ(gpu.processes[0].sm_percent, std::nullopt);
  EXPECT_EQ(gpu.processes[0].gpu_instance, std::nullopt);
  EXPECT_EQ(gpu.processes[1].type, ProcessType::compute_and_graphics);
  EXPECT_EQ(gpu.processes[1].used_bytes, 64LL << 20);
  EXPECT_EQ(gpu.processes[1].sm_percent, 99);
  EXPECT_EQ(gpu.processes[1].memory_percent, 10);
}

TEST_F(Nvml, OlderLibrariesTellWhatTheyCan) {
  const std::string script = std::string(kFull) + "set energy 55\nset ecc.1.0 3\nset power 250000\nset power.limit 9\n";
  for (const char* set : {"middle", "old"}) {
    use(set);
    auto source = open(script);
    ASSERT_TRUE(source) << set << source.error().message;
    const DeviceSample& gpu = (*source)->sample(everything(), 0)[0];
    const bool is_old = std::string(set) == "old";
    // The first layout has no `reserved`, and counts it as used.
    EXPECT_EQ(gpu.values[M::memory_reserved].state, ValueState::not_supported) << set;
    EXPECT_EQ(gpu.number(M::memory_used), (19818LL + 479) << 20) << set;
    EXPECT_EQ(gpu.text(M::pci_bus_id), "00000000:09:00.0") << set;
    EXPECT_EQ(gpu.number(M::clocks_event_reasons_active), 0x64) << set;
    EXPECT_EQ(gpu.number(M::power_draw), is_old ? 250000 : 631950) << set;
    EXPECT_EQ(gpu.number(M::energy_total), is_old ? 55 : 123456789) << set;
    EXPECT_EQ(gpu.number(M::ecc_errors_uncorrected_volatile_total), is_old ? 3 : 1) << set;
    EXPECT_EQ(gpu.values[M::mig_mode_current].state, is_old ? ValueState::not_supported : ValueState::known) << set;
    EXPECT_EQ(gpu.values[M::gpm_sm_active].state, ValueState::not_supported) << set;
    ASSERT_EQ(gpu.processes.size(), 2u) << set;
    EXPECT_EQ(gpu.processes[0].used_bytes, 8192LL << 20) << set;
    EXPECT_EQ(gpu.processes[1].used_bytes, 64LL << 20) << set;
  }
}

TEST_F(Nvml, HalfOfALibraryIsUsed) {
  use("half");
  auto source = open(kFull);
  ASSERT_TRUE(source);
  const DeviceSample& gpu = (*source)->sample(everything(), 0)[0];
  EXPECT_EQ(gpu.text(M::name), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(gpu.number(M::memory_total), 81559LL << 20);
  EXPECT_EQ(gpu.values[M::uuid].state, ValueState::not_supported);
  EXPECT_EQ(gpu.processes_state, ValueState::not_supported);
  EXPECT_EQ(gpu.values[M::xid_last].state, ValueState::not_supported);
}

TEST_F(Nvml, StartErrorsAreSentencesWithCodes) {
  for (const int code : {4, 8, 9, 11, 13, 15, 18}) {
    auto source = open("error nvmlInit_v2 * " + std::to_string(code) + "\n");
    ASSERT_FALSE(source);
    EXPECT_EQ(source.error().code, ExitCode::machine);
    EXPECT_EQ(source.error().driver_code, code);
    EXPECT_EQ(source.error().message.back(), '.') << source.error().message;
  }
  auto unknown = open("error nvmlInit_v2 * 999\n");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().driver_code, 255);
  EXPECT_NE(unknown.error().message.find("999"), std::string::npos);
  auto none = open("driver 1\n");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().driver_code, 6);
  setenv("VRAMSCOPE_NVML", "/nonexistent/libnvidia-ml.so.1", 1);
  auto missing = open(kFull);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ExitCode::machine);
  EXPECT_EQ(missing.error().driver_code, 12);
  setenv("VRAMSCOPE_NVML", "libm.so.6", 1);  // some library, not this one
  auto other = open(kFull);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().driver_code, 13);
}

TEST_F(Nvml, ErrorsOfOneFunctionStayWithItsValue) {
  const std::pair<int, ValueState> codes[] = {{3, ValueState::not_supported},  {4, ValueState::no_permission},
                                              {13, ValueState::not_supported}, {16, ValueState::failed},
                                              {26, ValueState::not_supported}, {999, ValueState::failed}};
  for (const auto& [code, state] : codes) {
    auto source = open(std::string(kFull) + "error nvmlDeviceGetTemperature 0 " + std::to_string(code) +
                       "\nerror field:82 0 " + std::to_string(code) + "\n");
    ASSERT_TRUE(source);
    const DeviceSample& gpu = (*source)->sample(live_wanted(), 0)[0];
    EXPECT_EQ(gpu.values[M::temperature_gpu].state, state) << code;
    EXPECT_EQ(gpu.values[M::temperature_gpu].number, code);
    EXPECT_EQ(gpu.values[M::temperature_memory].state, state) << code;
    EXPECT_EQ(gpu.number(M::utilization_gpu), 97);
    EXPECT_FALSE(gpu.is_lost);
  }
}

TEST_F(Nvml, ProcessListThatIsRefusedIsNotEmptiness) {
  auto source = open(std::string(kFull) + "error nvmlDeviceGetComputeRunningProcesses_v3 0 4\n" +
                     "error nvmlDeviceGetGraphicsRunningProcesses_v3 0 4\n");
  ASSERT_TRUE(source);
  EXPECT_EQ((*source)->sample(live_wanted(), 0)[0].processes_state, ValueState::no_permission);
  // One that is told does not stand for the other, which is refused; it does for one that the card does not have.
  auto half = open(std::string(kFull) + "error nvmlDeviceGetComputeRunningProcesses_v3 0 4\n");
  ASSERT_TRUE(half);
  EXPECT_EQ((*half)->sample(live_wanted(), 0)[0].processes_state, ValueState::no_permission);
  auto graphics = open(std::string(kFull) + "error nvmlDeviceGetComputeRunningProcesses_v3 0 3\n");
  ASSERT_TRUE(graphics);
  EXPECT_EQ((*graphics)->sample(live_wanted(), 0)[0].processes_state, ValueState::known);
  // The symbol without the function behind it: the next older one.
  auto older = open(std::string(kFull) + "error nvmlDeviceGetComputeRunningProcesses_v3 0 13\n");
  ASSERT_TRUE(older);
  EXPECT_EQ((*older)->sample(live_wanted(), 0)[0].processes.size(), 2u);
}

TEST_F(Nvml, ManyProcessesFit) {
  std::string script = kFull;
  for (int i = 0; i < 3000; ++i) script += "process C " + std::to_string(50000 + i) + " 1M\n";
  auto source = open(script);
  ASSERT_TRUE(source);
  EXPECT_EQ((*source)->sample(live_wanted(), 0)[0].processes.size(), 3002u);
}

TEST_F(Nvml, LostGpuDoesNotStopTheOthers) {
  std::string script = std::string(kFull) + "xid 79\nlost 60\n" + kFull;
  auto source = open(script);
  ASSERT_TRUE(source);
  const auto& samples = (*source)->sample(live_wanted(), 0);
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].number(M::utilization_gpu), 97);
  for (int i = 0; i < 10; ++i) (*source)->sample(live_wanted(), i);
  EXPECT_TRUE(samples[0].is_lost);
  EXPECT_EQ(samples[0].values[M::utilization_gpu].state, ValueState::lost);
  EXPECT_EQ(samples[0].values[M::memory_used].state, ValueState::lost);
  EXPECT_EQ(samples[0].text(M::name), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(samples[0].number(M::xid_last), 79);
  EXPECT_EQ(samples[0].processes_state, ValueState::lost);
  EXPECT_FALSE(samples[1].is_lost);
  EXPECT_EQ(samples[1].number(M::utilization_gpu), 97);
  EXPECT_EQ(samples[1].number(M::xid_last), 0);
}

TEST_F(Nvml, GpuWithoutHandleIsListed) {
  auto source =
      open("gpu 3\ntext name A\nset memory.total 1G\nset memory.used 1M\n" +
           std::string("error nvmlDeviceGetHandleByIndex_v2 1 15\nerror nvmlDeviceGetHandleByIndex_v2 2 4\n"));
  ASSERT_TRUE(source);
  const auto& samples = (*source)->sample(live_wanted(), 0);
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[0].number(M::memory_total), 1LL << 30);
  EXPECT_TRUE(samples[1].is_lost);
  EXPECT_FALSE(samples[2].is_lost);
  EXPECT_EQ(samples[2].values[M::memory_used].state, ValueState::no_permission);
}

TEST_F(Nvml, MigDevicesHaveTheirGpuAsParent) {
  const std::string script = R"(
gpu
text name NVIDIA H100
text uuid GPU-1
set mig.current 1
set mig.pending 1
set memory.total 80G
set memory.used 12G
process C 21180 2296M 2 0
process C 21181 1272M 3 0
mig
text name NVIDIA H100 MIG 3g.40gb
text uuid MIG-1
set gpu_instance 2
set compute_instance 0
set memory.total 40448M
set memory.used 11091M
set mig.multiprocessors 60
set mig.slices 3
mig
text name NVIDIA H100 MIG 2g.20gb
text uuid MIG-2
set gpu_instance 3
set compute_instance 0
set memory.total 20096M
set memory.used 17M
gpu
text name other
)";
  auto source = open(script);
  ASSERT_TRUE(source);
  const auto& samples = (*source)->sample(everything(), 0);
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(samples[0].parent, std::nullopt);
  EXPECT_EQ(samples[1].parent, 0);
  EXPECT_EQ(samples[2].parent, 0);
  EXPECT_EQ(samples[3].parent, std::nullopt);
  EXPECT_EQ(samples[3].index, 1);
  EXPECT_EQ(samples[1].gpu_instance, 2);
  EXPECT_EQ(samples[1].compute_instance, 0);
  EXPECT_EQ(samples[1].text(M::uuid), "MIG-1");
  EXPECT_EQ(samples[1].number(M::memory_used), 11091LL << 20);
  EXPECT_EQ(samples[1].number(M::mig_multiprocessors), 60);
  EXPECT_EQ(samples[2].index, 1);
  EXPECT_EQ(samples[2].values[M::utilization_gpu].state, ValueState::not_supported);
  ASSERT_EQ(samples[0].processes.size(), 2u);
  EXPECT_EQ(samples[0].processes[0].gpu_instance, 2);
  EXPECT_EQ(samples[0].processes[1].compute_instance, 0);
}

TEST_F(Nvml, ASampleNeedsAtMostTwelveCallsAGpu) {
  std::string script = std::string(kFull);
  script.replace(script.find("gpu\n"), 4, "gpu 8\n");
  for (int i = 0; i < 18; ++i) script += "process C " + std::to_string(50000 + i) + " 1M\n";
  auto source = open(script);
  ASSERT_TRUE(source);
  (*source)->sample(live_wanted(), 0);
  const auto& samples = (*source)->sample(live_wanted(), 0);
  ASSERT_EQ(samples.size(), 8u);
  EXPECT_EQ(samples[7].processes.size(), 20u);
  const long long before = total();
  (*source)->sample(live_wanted(), 0);
  EXPECT_LE(total() - before, 8 * 12 + 1);  // and one for events of all
  EXPECT_EQ(calls("nvmlDeviceGetPcieThroughput"), 0);
  EXPECT_EQ(calls("nvmlGpmSampleGet"), 0);
  EXPECT_EQ(calls("nvmlDeviceGetName"), 8);
}

TEST_F(Nvml, SixteenGpus) {
  auto source = open("gpu 16\ntext name A\nset memory.total 1G\nset memory.used 1M\n");
  ASSERT_TRUE(source);
  const auto& samples = (*source)->sample(live_wanted(), 0);
  ASSERT_EQ(samples.size(), 16u);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(samples[static_cast<std::size_t>(i)].index, i);
}

TEST_F(Nvml, UnsupportedFunctionsAreNotCalledAgain) {
  auto source = open("gpu\ntext name A\n");
  ASSERT_TRUE(source);
  for (int i = 0; i < 5; ++i) (*source)->sample(everything(), 0);
  EXPECT_EQ(calls("nvmlDeviceGetFanSpeed"), 1);
  EXPECT_EQ((*source)->sample(everything(), 0)[0].values[M::fan_speed].state, ValueState::not_supported);
}

TEST_F(Nvml, AnUnknownPerformanceStateIsNotANumber) {
  auto source = open("gpu\ntext name A\nset pstate 32\n");
  ASSERT_TRUE(source);
  EXPECT_EQ((*source)->sample(everything(), 0)[0].values[M::pstate].state, ValueState::not_supported);
}

TEST_F(Nvml, OnlyWhatIsWantedIsAsked) {
  auto source = open(kFull);
  ASSERT_TRUE(source);
  Wanted wanted;
  wanted.metrics = mask_of({M::memory_used});
  (*source)->sample(wanted, 0);
  const long long before = total();
  const DeviceSample& gpu = (*source)->sample(wanted, 0)[0];
  EXPECT_EQ(total() - before, 1);
  EXPECT_TRUE(gpu.values.is_known(M::memory_used));
  EXPECT_EQ(gpu.values[M::utilization_gpu].state, ValueState::not_asked);
  EXPECT_EQ(gpu.processes_state, ValueState::not_asked);
}

TEST_F(Nvml, SlowCallsAreWaitedFor) {
  auto source = open(std::string(kFull) + "latency nvmlDeviceGetPcieThroughput 20000\n");
  ASSERT_TRUE(source);
  Wanted wanted;
  wanted.metrics = mask_of({M::pcie_throughput_tx});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ((*source)->sample(wanted, 0)[0].number(M::pcie_throughput_tx), 9139 * 1024);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(20));
}

}  // namespace
}  // namespace vramscope
