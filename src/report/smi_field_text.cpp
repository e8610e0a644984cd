#include "report/smi_field_text.h"

#include <string_view>

namespace vramscope {

namespace {

using M = Metric;

struct Text {
  Metric metric;
  std::string_view text;
};

// In the order of the fields; those of ecc.errors are made below. The table is long and regular: one line a field.
// clang-format off
constexpr Text kTexts[] = {
    {M::timestamp, "When the values were read: YYYY/MM/DD HH:MM:SS.mmm, local time."},
    {M::driver_version, "Version of the NVIDIA driver."},
    {M::kmd_version, "Version of the driver's kernel module."},
    {M::vgpu_driver_capability_heterogenous_multiv_gpu, "Whether the driver can run virtual GPUs of different kinds side by side."},
    {M::count, "How many NVIDIA GPUs there are."},
    {M::name, "Product name."},
    {M::serial, "Serial number of the board, as printed on it."},
    {M::uuid, "Identifier that no other GPU has; it stays when the card moves."},
    {M::pci_bus_id, "Place on the PCI bus: domain:bus:device.function, hexadecimal."},
    {M::pci_domain, "PCI domain, hexadecimal."},
    {M::pci_bus, "PCI bus, hexadecimal."},
    {M::pci_device, "PCI device number, hexadecimal."},
    {M::pci_base_class, "PCI class, hexadecimal: 0x3 is a display controller."},
    {M::pci_sub_class, "PCI subclass, hexadecimal."},
    {M::pci_device_id, "PCI device and vendor id, hexadecimal."},
    {M::pci_sub_device_id, "PCI subsystem id, which names the maker of the board; hexadecimal."},
    {M::vgpu_device_capability_fractional_multi_vgpu, "Whether partial virtual GPU profiles may share a virtual machine."},
    {M::vgpu_device_capability_heterogeneous_time_slice_profile, "Whether time-sliced virtual GPUs of different types may run at once."},
    {M::vgpu_device_capability_heterogeneous_time_slice_sizes, "Whether time-sliced virtual GPUs of different memory sizes may run at once."},
    {M::vgpu_device_capability_homogeneous_placements, "Whether placements of virtual GPUs of one size can be told."},
    {M::vgpu_device_capability_mig_time_slicing, "Whether virtual GPUs can be time-sliced on MIG devices."},
    {M::vgpu_device_capability_mig_time_slicing_mode, "Whether time slicing on MIG devices is on."},
    {M::pcie_link_gen_current, "PCIe generation in use now; lower while idle. The older name of pcie.link.gen.gpucurrent."},
    {M::pcie_link_gen_gpucurrent, "PCIe generation in use now; lower while idle."},
    {M::pcie_link_gen_max, "Highest PCIe generation that the GPU and this machine can use together."},
    {M::pcie_link_gen_gpumax, "Highest PCIe generation of the GPU itself."},
    {M::pcie_link_gen_hostmax, "Highest PCIe generation of the root port that the GPU hangs on."},
    {M::pcie_link_width_current, "PCIe lanes in use now; fewer while idle."},
    {M::pcie_link_width_max, "Most PCIe lanes that the GPU and this machine can use together."},
    {M::index, "Number of the GPU, from 0; may differ after a restart."},
    {M::display_mode, "No longer supported; see display_attached and display_active."},
    {M::display_attached, "Yes when a monitor is plugged in."},
    {M::display_active, "Enabled when a display is set up on the GPU, monitor or not."},
    {M::persistence_mode, "Enabled when the driver stays loaded with no program using it."},
    {M::addressing_mode, "How the GPU reaches the host's memory: HMM (by the driver), ATS (by hardware), or None."},
    {M::accounting_mode, "Whether the driver keeps figures of each process; see --help-query-accounted-apps."},
    {M::accounting_buffer_size, "How many processes accounting remembers before the oldest are overwritten."},
    {M::driver_model_current, "Driver model in use: WDDM, TCC or MCDM; on Windows alone."},
    {M::driver_model_pending, "Driver model after the next restart; on Windows alone."},
    {M::vbios_version, "Version of the board's BIOS."},
    {M::inforom_img, "Version of the whole infoROM, the board's store of its configuration."},
    {M::inforom_oem, "Version of the infoROM's part about the maker."},
    {M::inforom_ecc, "Version of the infoROM's part about memory errors."},
    {M::inforom_pwr, "Version of the infoROM's part about power."},
    {M::inforom_checksum_validation, "Whether the infoROM is whole: valid or invalid."},
    {M::gpu_recovery_action, "What brings a GPU in trouble back: None, Reset, Reboot, Drain P2P, Drain and Reset."},
    {M::gom_current, "GPU operation mode in use."},
    {M::gom_pending, "GPU operation mode after the next restart."},
    {M::fan_speed, "Speed that the fan is told to run at, of its most; it may be above 100. Not measured."},
    {M::pstate, "Performance state, from P0 (fastest) to P12."},
    {M::clocks_event_reasons_supported, "Bit mask of the reasons below that this GPU can tell."},
    {M::clocks_event_reasons_active, "Bit mask of the reasons below that hold now."},
    {M::clocks_event_reasons_gpu_idle, "Clocks are low because nothing runs."},
    {M::clocks_event_reasons_applications_clocks_setting, "Clocks are held by the application clocks that were set."},
    {M::clocks_event_reasons_sw_power_cap, "Clocks are held down to stay below the power limit."},
    {M::clocks_event_reasons_hw_slowdown, "Hardware has halved the clocks or more: heat, power brake, or a power draw too fast."},
    {M::clocks_event_reasons_hw_thermal_slowdown, "Hardware has lowered the clocks for heat."},
    {M::clocks_event_reasons_hw_power_brake_slowdown, "The machine's power supply has asked for lower clocks."},
    {M::clocks_event_reasons_sw_thermal_slowdown, "The driver has lowered the clocks for heat."},
    {M::clocks_event_reasons_sync_boost, "Clocks are held to those of other GPUs of a synchronised group."},
    {M::clocks_event_reasons_counters_sw_power_cap, "How long the clocks were held down for the power limit."},
    {M::clocks_event_reasons_counters_sync_boost, "How long the clocks were held to those of a group."},
    {M::clocks_event_reasons_counters_sw_thermal_slowdown, "How long the driver lowered the clocks for heat."},
    {M::clocks_event_reasons_counters_hw_thermal_slowdown, "How long hardware lowered the clocks for heat."},
    {M::clocks_event_reasons_counters_hw_power_brake_slowdown, "How long the power supply asked for lower clocks."},
    {M::memory_total, "All of the GPU's memory that can be used."},
    {M::memory_reserved, "Memory that the driver and firmware keep for themselves."},
    {M::memory_used, "Memory held by the driver and by running programs."},
    {M::memory_free, "Memory that is free."},
    {M::compute_mode, "Who may compute: Default (all), Exclusive_Process (one), Prohibited (none)."},
    {M::compute_cap, "CUDA compute capability: major.minor."},
    {M::utilization_gpu, "Share of the last sample period in which any kernel ran, however small."},
    {M::utilization_memory, "Share of the last sample period in which memory was read or written."},
    {M::utilization_encoder, "Use of the video encoder in the last sample period."},
    {M::utilization_decoder, "Use of the video decoder in the last sample period."},
    {M::utilization_jpeg, "Use of the JPEG engine in the last sample period."},
    {M::utilization_ofa, "Use of the optical flow engine in the last sample period."},
    {M::encoder_stats_session_count, "Video encoder sessions that are open."},
    {M::encoder_stats_average_fps, "Mean frames a second of all encoder sessions."},
    {M::encoder_stats_average_latency, "Mean time to encode a frame, in microseconds."},
    {M::dram_encryption_mode_current, "Whether memory is encrypted."},
    {M::dram_encryption_mode_pending, "Whether memory is encrypted after the next restart."},
    {M::ecc_mode_current, "Whether error correction of memory is on."},
    {M::ecc_mode_pending, "Whether error correction is on after the next restart."},
    {M::retired_pages_single_bit_ecc_count, "Memory pages given up after repeated single bit errors."},
    {M::retired_pages_double_bit_count, "Memory pages given up after a double bit error."},
    {M::retired_pages_pending, "Yes when pages wait for a restart to be given up."},
    {M::remapped_rows_correctable, "Memory rows replaced by spare ones after correctable errors."},
    {M::remapped_rows_correctable_inactive, "The same, of replacements that are not in use."},
    {M::remapped_rows_uncorrectable, "Memory rows replaced by spare ones after uncorrectable errors."},
    {M::remapped_rows_uncorrectable_inactive, "The same, of replacements that are not in use."},
    {M::remapped_rows_pending, "Yes when rows wait for a reset to be replaced."},
    {M::remapped_rows_failure, "Yes when a row could not be replaced: the card should be changed."},
    {M::remapped_rows_histogram_max, "Memory banks with all spare rows left."},
    {M::remapped_rows_histogram_high, "Memory banks with most spare rows left."},
    {M::remapped_rows_histogram_partial, "Memory banks with some spare rows left."},
    {M::remapped_rows_histogram_low, "Memory banks with few spare rows left."},
    {M::remapped_rows_histogram_none, "Memory banks with no spare row left."},
    {M::temperature_gpu, "Temperature of the GPU, in degrees Celsius."},
    {M::temperature_gpu_tlimit, "Degrees Celsius left until the GPU slows down."},
    {M::temperature_memory, "Temperature of the memory, in degrees Celsius."},
    {M::power_management, "No longer supported."},
    {M::power_draw, "Power of the whole board: over a second since Ampere (but GA100), else now."},
    {M::power_draw_average, "Power of the whole board, mean of a second."},
    {M::power_draw_instant, "Power of the whole board, now."},
    {M::power_limit, "Power limit that was asked for."},
    {M::enforced_power_limit, "Power limit that holds, the least of all that apply."},
    {M::power_default_limit, "Power limit when nothing was set."},
    {M::power_min_limit, "Least power limit that can be set."},
    {M::power_max_limit, "Greatest power limit that can be set."},
    {M::module_power_draw_average, "Power of the module with its CPU, mean of a second."},
    {M::module_power_draw_instant, "Power of the module with its CPU, now."},
    {M::module_power_limit, "Power limit of the module that was asked for."},
    {M::module_enforced_power_limit, "Power limit of the module that holds."},
    {M::module_power_default_limit, "Power limit of the module when nothing was set."},
    {M::module_power_min_limit, "Least power limit of the module that can be set."},
    {M::module_power_max_limit, "Greatest power limit of the module that can be set."},
    {M::power_smoothing_delayed_power_smoothing_supported, "Whether power smoothing can begin late."},
    {M::power_smoothing_primary_power_floor, "First floor that power smoothing holds."},
    {M::power_smoothing_secondary_power_floor, "Second floor that power smoothing holds."},
    {M::power_smoothing_min_primary_floor_activation_offset, "Least distance above the first floor at which it begins to act."},
    {M::power_smoothing_min_primary_floor_activation_point, "Least power at which the first floor begins to act."},
    {M::power_smoothing_window_multiplier, "Unit of the windows below."},
    {M::power_smoothing_curr_profile_secondary_power_floor, "Second floor in the profile in use."},
    {M::power_smoothing_curr_profile_primary_floor_act_window_multiplier, "Window before the first floor acts, in the profile in use."},
    {M::power_smoothing_curr_profile_primary_floor_tar_window_multiplier, "Window in which the first floor is reached, in the profile in use."},
    {M::power_smoothing_curr_profile_primary_floor_act_offset, "Distance above the first floor at which it acts, in the profile in use."},
    {M::power_smoothing_admin_override_secondary_power_floor, "Second floor that the administrator has set."},
    {M::power_smoothing_admin_override_primary_floor_act_window_multiplier, "Window before the first floor acts, as the administrator has set it."},
    {M::power_smoothing_admin_override_primary_floor_tar_window_multiplier, "Window in which the first floor is reached, as the administrator has set it."},
    {M::power_smoothing_admin_override_primary_floor_act_offset, "Distance above the first floor at which it acts, as the administrator has set it."},
    {M::edpp_multiplier, "Peak power that is allowed for moments, of the limit."},
    {M::clocks_current_graphics, "Clock of the graphics units now."},
    {M::clocks_current_sm, "Clock of the multiprocessors now."},
    {M::clocks_current_memory, "Clock of the memory now."},
    {M::clocks_current_video, "Clock of the video engines now."},
    {M::clocks_applications_graphics, "No longer supported."},
    {M::clocks_applications_memory, "No longer supported."},
    {M::clocks_default_applications_graphics, "No longer supported."},
    {M::clocks_default_applications_memory, "No longer supported."},
    {M::clocks_max_graphics, "Highest clock of the graphics units."},
    {M::clocks_max_sm, "Highest clock of the multiprocessors."},
    {M::clocks_max_memory, "Highest clock of the memory."},
    {M::mig_mode_current, "Whether the GPU is divided into MIG devices."},
    {M::mig_mode_pending, "Whether it will be after the next reset."},
    {M::gsp_mode_current, "Whether the GPU's own processor runs the driver's firmware."},
    {M::gsp_mode_default, "Whether it does so when nothing was set."},
    {M::c2c_mode, "Whether the GPU is linked to its CPU by NVLink-C2C."},
    {M::protected_memory_total, "Memory set aside for confidential computing."},
    {M::protected_memory_used, "Of it, memory that is used."},
    {M::protected_memory_free, "Of it, memory that is free."},
    {M::fabric_state, "Whether the GPU has joined the NVLink fabric: Not Started, In Progress, Completed."},
    {M::fabric_status, "How joining the fabric ended."},
    {M::fabric_clique_id, "Number of the group of GPUs that reach each other over the fabric."},
    {M::fabric_cluster_uuid, "Identifier of the cluster that the fabric belongs to."},
    {M::fabric_health_summary, "Health of the fabric as a whole."},
    {M::fabric_health_bandwidth, "True when the fabric has less bandwidth than it should."},
    {M::fabric_health_route_recovery_in_progress, "True while routes are being repaired."},
    {M::fabric_health_route_unhealthy, "True when routes are broken."},
    {M::fabric_health_access_timeout_recovery, "True while accesses that timed out are being repaired."},
    {M::fabric_health_incorrect_configuration, "What is set up wrongly in the fabric."},
    {M::fabric_health_partition_assigned, "True when the GPU belongs to a partition of the fabric."},
    {M::platform_chassis_serial_number, "Serial number of the chassis."},
    {M::platform_slot_number, "Slot in the rack."},
    {M::platform_tray_index, "Tray in the rack."},
    {M::platform_host_id, "Number of the host in the tray."},
    {M::platform_peer_type, "How GPUs reach each other: Direct Connected or Switch Connected."},
    {M::platform_module_id, "Number of the module in the host."},
    {M::platform_gpu_fabric_guid, "Identifier of the GPU in the fabric."},
    {M::hostname, "Host name that was set for the GPU."},
};
// clang-format on

struct Place {
  std::string_view name, text;
};
constexpr Place kPlaces[] = {
    {"device_memory", "in the GPU's memory"},
    {"dram", "in the GPU's memory"},
    {"register_file", "in register files"},
    {"l1_cache", "in L1 caches"},
    {"l2_cache", "in L2 caches"},
    {"texture_memory", "in texture memory"},
    {"cbu", "in convergence barrier units"},
    {"sram", "in memory on the chip"},
    {"total", "in all places"},
    {"sram.parity", "in memory on the chip, found by parity"},
    {"sram.secded", "in memory on the chip, found by its error correction"},
    {"sram.l2", "in memory on the chip: L2 caches"},
    {"sram.sm", "in memory on the chip: multiprocessors"},
    {"sram.mcu", "in memory on the chip: microcontrollers"},
    {"sram.pcie", "in memory on the chip: PCIe"},
    {"sram.other", "in memory on the chip: elsewhere"},
};

// "ecc.errors.corrected.volatile.dram"
std::string ecc_text(std::string_view name) {
  constexpr std::string_view kPrefix = "ecc.errors.";
  name.remove_prefix(kPrefix.size());
  const bool is_corrected = name[0] == 'c';
  name.remove_prefix(name.find('.') + 1);
  const bool is_volatile = name[0] == 'v';
  name.remove_prefix(name.find('.') + 1);
  if (name == "sram.thresholdExceeded")
    return "Yes when memory on the chip had so many errors that the card should be changed.";
  std::string text = is_corrected ? "Errors that were corrected, " : "Errors that could not be corrected, ";
  for (const Place& place : kPlaces) {
    if (place.name == name) text += place.text;
  }
  return text + (is_volatile ? ", since the driver was loaded." : ", over the life of the card.");
}

}  // namespace

std::string smi_field_text(Metric metric) {
  for (const Text& text : kTexts) {
    if (text.metric == metric) return std::string(text.text);
  }
  const std::string_view name = info_of(metric).name;
  return name.substr(0, 11) == "ecc.errors." ? ecc_text(name) : std::string();
}

}  // namespace vramscope
