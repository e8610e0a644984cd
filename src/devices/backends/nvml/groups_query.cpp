// What only `nvidia-smi -q` shows: no sample at a rhythm wants any of it.
#include <cstring>
#include <iterator>

#include "devices/backends/nvml/groups.h"

namespace vramscope::nvml {

namespace {

using M = Metric;
using F = Functions;

// nvmlTemperatureThresholds_t
constexpr int kTargetMin = 4, kTarget = 5, kTargetMax = 6;

int brand(Reading& reading) {
  if (reading.call.brand == nullptr) return kFunctionNotFound;
  // nvmlBrandType_t, in nvidia-smi's words.
  constexpr const char* kNames[] = {"Unknown",
                                    "Quadro",
                                    "Tesla",
                                    "NVS",
                                    "GRID",
                                    "GeForce",
                                    "Titan",
                                    "NVIDIA Virtual Applications",
                                    "NVIDIA Virtual PC",
                                    "NVIDIA Virtual Compute Server",
                                    "NVIDIA RTX Virtual Workstation",
                                    "NVIDIA Cloud Gaming",
                                    "Quadro RTX",
                                    "NVIDIA RTX",
                                    "NVIDIA",
                                    "GeForce RTX",
                                    "Titan RTX"};
  unsigned number = 0;
  const int code = reading.call.brand(reading.device.handle, &number);
  if (code == kSuccess) reading.values.set_text(M::product_brand, kNames[number < std::size(kNames) ? number : 0]);
  return code;
}

int pdi(Reading& reading) {
  if (reading.call.pdi == nullptr) return kFunctionNotFound;
  Pdi pdi{version_of<Pdi>(1), 0};
  const int code = reading.call.pdi(reading.device.handle, &pdi);
  if (code == kSuccess) reading.values.set(M::pdi, static_cast<std::int64_t>(pdi.value));
  return code;
}

int inforom_flush(Reading& reading) {
  if (reading.call.inforom_flush == nullptr) return kFunctionNotFound;
  unsigned long long time_us = 0;
  unsigned long duration_us = 0;
  const int code = reading.call.inforom_flush(reading.device.handle, &time_us, &duration_us);
  constexpr int kNotReady = 27;  // NVML_ERROR_NOT_READY: none since the driver was loaded
  if (code == kNotReady) return kNotSupported;
  if (code != kSuccess) return code;
  constexpr std::uint64_t kPositive = ~(std::uint64_t{1} << 63);
  reading.values.set(M::inforom_flush_time, static_cast<std::int64_t>(time_us & kPositive));
  reading.values.set(M::inforom_flush_duration, static_cast<std::int64_t>(duration_us & kPositive));
  return code;
}

int heterogeneous(Reading& reading) {
  if (reading.call.vgpu_heterogeneous == nullptr) return kFunctionNotFound;
  Heterogeneous mode{version_of<Heterogeneous>(1), 0};
  const int code = reading.call.vgpu_heterogeneous(reading.device.handle, &mode);
  if (code == kSuccess) reading.values.set(M::virtualization_vgpu_heterogeneous, mode.mode != 0 ? 1 : 0);
  return code;
}

// The function is not told how much room it has: NVML_GSP_FIRMWARE_VERSION_BUF_SIZE.
int gsp_version(Reading& reading) {
  if (reading.call.gsp_version == nullptr) return kFunctionNotFound;
  char room[256] = {};
  const int code = reading.call.gsp_version(reading.device.handle, room);
  if (code == kSuccess) {
    reading.values.set_text(M::gsp_firmware_version, std::string_view(room, strnlen(room, sizeof room)));
  }
  return code;
}

int capture_stats(Reading& reading) {
  if (reading.call.capture_stats == nullptr) return kFunctionNotFound;
  CaptureStats stats{};
  const int code = reading.call.capture_stats(reading.device.handle, &stats);
  if (code != kSuccess) return code;
  reading.values.set(M::capture_stats_session_count, stats.sessions);
  reading.values.set(M::capture_stats_average_fps, stats.fps);
  reading.values.set(M::capture_stats_average_latency, stats.latency_us);
  return code;
}

int dram_encryption(Reading& reading) {
  if (reading.call.dram_encryption == nullptr) return kFunctionNotFound;
  DramEncryption current{version_of<DramEncryption>(1), 0};
  DramEncryption pending{version_of<DramEncryption>(1), 0};
  const int code = reading.call.dram_encryption(reading.device.handle, &current, &pending);
  if (code != kSuccess) return code;
  reading.values.set(M::dram_encryption_mode_current, current.state);
  reading.values.set(M::dram_encryption_mode_pending, pending.state);
  return code;
}

int repair_status(Reading& reading) {
  if (reading.call.repair_status == nullptr) return kFunctionNotFound;
  RepairStatus status{version_of<RepairStatus>(1), 0, 0};
  const int code = reading.call.repair_status(reading.device.handle, &status);
  if (code != kSuccess) return code;
  reading.values.set(M::ecc_repair_channel_pending, status.channel_pending != 0 ? 1 : 0);
  reading.values.set(M::ecc_repair_tpc_pending, status.tpc_pending != 0 ? 1 : 0);
  return code;
}

int unrepairable_memory(Reading& reading) {
  if (reading.call.unrepairable_memory == nullptr) return kFunctionNotFound;
  UnrepairableMemory status{};
  const int code = reading.call.unrepairable_memory(reading.device.handle, &status);
  if (code == kSuccess) reading.values.set(M::ecc_unrepairable_memory, status.is_unrepairable != 0 ? 1 : 0);
  return code;
}

int capabilities(Reading& reading) {
  if (reading.call.capabilities == nullptr) return kFunctionNotFound;
  Capabilities capabilities{version_of<Capabilities>(1), 0};
  const int code = reading.call.capabilities(reading.device.handle, &capabilities);
  if (code == kSuccess) reading.values.set(M::capability_egm, (capabilities.mask & kCapabilityEgm) != 0 ? 1 : 0);
  return code;
}

void add_board(Groups& groups) {
  groups.push_back(group<M::product_brand>(brand));
  groups.push_back(group<M::pdi>(pdi));
  groups.push_back(group<M::board_is_multi_gpu>(one<&F::multi_gpu_board, M::board_is_multi_gpu>));
  groups.push_back(group<M::board_id>(one<&F::board_id, M::board_id>));
  groups.push_back(group<M::board_part_number>(text<&F::board_part_number, M::board_part_number>));
  groups.push_back(group<M::gsp_firmware_version>(gsp_version));
  groups.push_back(group<M::virtualization_mode>(one<&F::virtualization, M::virtualization_mode>));
  groups.push_back(group<M::virtualization_host_vgpu_mode>(one<&F::host_vgpu_mode, M::virtualization_host_vgpu_mode>));
  groups.push_back(group<M::virtualization_vgpu_heterogeneous>(heterogeneous));
  groups.push_back(group<M::capability_egm>(capabilities));
}

}  // namespace

void add_query(Groups& groups) {
  add_board(groups);
  groups.push_back(group<M::inforom_flush_time, M::inforom_flush_duration>(inforom_flush));
  groups.push_back(
      group<M::capture_stats_session_count, M::capture_stats_average_fps, M::capture_stats_average_latency>(
          capture_stats));
  groups.push_back(group<M::dram_encryption_mode_current, M::dram_encryption_mode_pending>(dram_encryption));
  groups.push_back(group<M::ecc_repair_channel_pending, M::ecc_repair_tpc_pending>(repair_status));
  groups.push_back(group<M::ecc_unrepairable_memory>(unrepairable_memory));
  groups.push_back(group<M::temperature_target>(of_kind<&F::temperature_threshold, kTarget, M::temperature_target>));
  groups.push_back(
      group<M::temperature_target_min>(of_kind<&F::temperature_threshold, kTargetMin, M::temperature_target_min>));
  groups.push_back(
      group<M::temperature_target_max>(of_kind<&F::temperature_threshold, kTargetMax, M::temperature_target_max>));
  groups.push_back(
      group<M::clocks_max_customer_boost>(of_kind<&F::customer_boost_clock, kGraphics, M::clocks_max_customer_boost>));
  groups.push_back(
      group<M::auto_boost, M::auto_boost_default>(two<&F::auto_boost, M::auto_boost, M::auto_boost_default>));
}

}  // namespace vramscope::nvml
