// What the GPU is, and its place on the bus.
#include "report/smi_tree_parts.h"

namespace vramscope {

namespace {

using M = Metric;
using P = SmiPrint;

void add_mig(SmiNodes& n) {
  add_smi_section(n, 0, "MIG Mode", "mig_mode");
  add_smi_value(n, 1, "Current", "current_mig", M::mig_mode_current);
  add_smi_value(n, 1, "Pending", "pending_mig", M::mig_mode_pending);
  add_smi_list(n, 0, "", "mig_devices", SmiList::mig_devices).words = "None";
  add_smi_section(n, 1, "MIG Device", "mig_device");
  add_smi_item(n, 2, "Index", "index", SmiItem::device_index);
  add_smi_item(n, 2, "GPU Instance ID", "gpu_instance_id", SmiItem::gpu_instance);
  add_smi_item(n, 2, "Compute Instance ID", "compute_instance_id", SmiItem::compute_instance);
  add_smi_section(n, 2, "Device Attributes", "device_attributes");
  add_smi_section(n, 3, "Shared", "shared");
  add_smi_value(n, 4, "Multiprocessor count", "multiprocessor_count", M::mig_multiprocessors);
  add_smi_value(n, 4, "Copy Engine count", "copy_engine_count", M::mig_copy_engines);
  add_smi_value(n, 4, "Encoder count", "encoder_count", M::mig_encoders);
  add_smi_value(n, 4, "Decoder count", "decoder_count", M::mig_decoders);
  add_smi_value(n, 4, "OFA count", "ofa_count", M::mig_ofas);
  add_smi_value(n, 4, "JPG count", "jpg_count", M::mig_jpegs);
  add_smi_section(n, 2, "ECC Errors", "ecc_error_count");
  add_smi_section(n, 3, "Volatile", "volatile_count");
  add_smi_value(n, 4, "SRAM Uncorrectable", "sram_uncorrectable", M::ecc_errors_uncorrected_volatile_sram);
  add_smi_section(n, 2, "Shared FB Memory Usage", "fb_memory_usage");
  add_smi_value(n, 3, "Total", "total", M::memory_total);
  add_smi_value(n, 3, "Reserved", "reserved", M::memory_reserved);
  add_smi_value(n, 3, "Used", "used", M::memory_used);
  add_smi_value(n, 3, "Free", "free", M::memory_free);
  add_smi_section(n, 2, "Shared BAR1 Memory", "bar1_memory_usage");
  add_smi_value(n, 3, "Total", "total", M::bar1_total, P::mebibytes);
  add_smi_value(n, 3, "Used", "used", M::bar1_used, P::mebibytes);
  add_smi_value(n, 3, "Free", "free", M::bar1_free, P::mebibytes);
}

void add_board(SmiNodes& n) {
  add_smi_value(n, 0, "Serial Number", "serial", M::serial);
  add_smi_value(n, 0, "GPU UUID", "uuid", M::uuid);
  add_smi_value(n, 0, "GPU PDI", "pdi", M::pdi, P::hex16_lower);
  add_smi_value(n, 0, "Minor Number", "minor_number", M::minor_number, P::integer);
  add_smi_value(n, 0, "VBIOS Version", "vbios_version", M::vbios_version);
  add_smi_value(n, 0, "MultiGPU Board", "multigpu_board", M::board_is_multi_gpu, P::yes_no);
  add_smi_value(n, 0, "Board ID", "board_id", M::board_id, P::hex_lower);
  add_smi_value(n, 0, "Board Part Number", "board_part_number", M::board_part_number);
  add_smi_unavailable(n, 0, "GPU Part Number", "gpu_part_number");
  add_smi_unavailable(n, 0, "FRU Part Number", "gpu_fru_part_number");
  // Of a board in no rack all but the module is empty.
  add_smi_section(n, 0, "Platform Info", "platformInfo");
  add_smi_value(n, 1, "Chassis Serial Number", "chassis_serial_number", M::platform_chassis_serial_number).needs_rack =
      true;
  add_smi_value(n, 1, "Slot Number", "slot_number", M::platform_slot_number).needs_rack = true;
  add_smi_value(n, 1, "Tray Index", "tray_index", M::platform_tray_index).needs_rack = true;
  add_smi_value(n, 1, "Host ID", "host_id", M::platform_host_id).needs_rack = true;
  add_smi_value(n, 1, "Peer Type", "peer_type", M::platform_peer_type).needs_rack = true;
  add_smi_value(n, 1, "Module Id", "module_id", M::platform_module_id);
  add_smi_value(n, 1, "GPU Fabric GUID", "gpu_fabric_guid", M::platform_gpu_fabric_guid).needs_rack = true;
}

void add_inforom(SmiNodes& n) {
  add_smi_section(n, 0, "Inforom Version", "inforom_version");
  add_smi_value(n, 1, "Image Version", "img_version", M::inforom_img);
  add_smi_value(n, 1, "OEM Object", "oem_object", M::inforom_oem);
  add_smi_value(n, 1, "ECC Object", "ecc_object", M::inforom_ecc);
  add_smi_value(n, 1, "Power Management Object", "pwr_object", M::inforom_pwr);
  add_smi_section(n, 0, "Inforom BBX Object Flush", "inforom_bbx_flush");
  add_smi_value(n, 1, "Latest Timestamp", "latest_timestamp", M::inforom_flush_time, P::moment);
  add_smi_value(n, 1, "Latest Duration", "latest_duration", M::inforom_flush_duration, P::microseconds);
}

}  // namespace

void add_smi_identity(SmiNodes& n) {
  add_smi_value(n, 0, "Product Name", "product_name", M::name);
  add_smi_value(n, 0, "Product Brand", "product_brand", M::product_brand);
  add_smi_value(n, 0, "Product Architecture", "product_architecture", M::architecture);
  add_smi_deprecated(n, 0, "Display Mode", "display_mode");
  add_smi_value(n, 0, "Display Attached", "display_attached", M::display_attached);
  add_smi_value(n, 0, "Display Active", "display_active", M::display_active);
  add_smi_value(n, 0, "Persistence Mode", "persistence_mode", M::persistence_mode);
  add_smi_value(n, 0, "Addressing Mode", "addressing_mode", M::addressing_mode);
  add_mig(n);
  const SmiDisplays accounting = bit_of(SmiDisplay::accounting);
  add_smi_value(n, 0, "Accounting Mode", "accounting_mode", M::accounting_mode).displays = accounting;
  add_smi_value(n, 0, "Accounting Mode Buffer Size", "accounting_mode_buffer_size", M::accounting_buffer_size)
      .displays = accounting;
  add_smi_section(n, 0, "Driver Model", "driver_model");
  add_smi_value(n, 1, "Current", "current_dm", M::driver_model_current);
  add_smi_value(n, 1, "Pending", "pending_dm", M::driver_model_pending);
  add_board(n);
  add_inforom(n);
  add_smi_section(n, 0, "GPU Operation Mode", "gpu_operation_mode");
  add_smi_value(n, 1, "Current", "current_gom", M::gom_current);
  add_smi_value(n, 1, "Pending", "pending_gom", M::gom_pending);
  add_smi_value(n, 0, "GPU C2C Mode", "c2c_mode", M::c2c_mode);
  add_smi_section(n, 0, "GPU Virtualization Mode", "gpu_virtualization_mode");
  add_smi_value(n, 1, "Virtualization Mode", "virtualization_mode", M::virtualization_mode, P::virtualization);
  add_smi_value(n, 1, "Host VGPU Mode", "host_vgpu_mode", M::virtualization_host_vgpu_mode, P::host_vgpu);
  add_smi_value(n, 1, "vGPU Heterogeneous Mode", "vgpu_heterogeneous_mode", M::virtualization_vgpu_heterogeneous,
                P::enabled);
  add_smi_value(n, 0, "GPU Recovery Action", "gpu_recovery_action", M::gpu_recovery_action);
  add_smi_value(n, 0, "GSP Firmware Version", "gsp_firmware_version", M::gsp_firmware_version).displays =
      bit_of(SmiDisplay::gsp_firmware_version);
  add_smi_section(n, 0, "IBMNPU", "ibmnpu");
  add_smi_unavailable(n, 1, "Relaxed Ordering Mode", "relaxed_ordering_mode");
}

void add_smi_pci(SmiNodes& n) {
  add_smi_section(n, 0, "PCI", "pci");
  add_smi_value(n, 1, "Bus", "pci_bus", M::pci_bus).xml_print = P::bare_hex2;
  add_smi_value(n, 1, "Device", "pci_device", M::pci_device).xml_print = P::bare_hex2;
  add_smi_value(n, 1, "Domain", "pci_domain", M::pci_domain).xml_print = P::bare_hex4;
  add_smi_value(n, 1, "Base Classcode", "pci_base_class", M::pci_base_class).xml_print = P::bare_hex;
  add_smi_value(n, 1, "Sub Classcode", "pci_sub_class", M::pci_sub_class).xml_print = P::bare_hex;
  add_smi_value(n, 1, "Device Id", "pci_device_id", M::pci_device_id).xml_print = P::bare_hex8;
  add_smi_value(n, 1, "Bus Id", "pci_bus_id", M::pci_bus_id);
  add_smi_value(n, 1, "Sub System Id", "pci_sub_system_id", M::pci_sub_device_id).xml_print = P::bare_hex8;
  add_smi_section(n, 1, "GPU Link Info", "pci_gpu_link_info");
  add_smi_section(n, 2, "PCIe Generation", "pcie_gen");
  add_smi_value(n, 3, "Max", "max_link_gen", M::pcie_link_gen_max);
  add_smi_value(n, 3, "Current", "current_link_gen", M::pcie_link_gen_current);
  add_smi_value(n, 3, "Device Current", "device_current_link_gen", M::pcie_link_gen_gpucurrent);
  add_smi_value(n, 3, "Device Max", "max_device_link_gen", M::pcie_link_gen_gpumax);
  add_smi_value(n, 3, "Host Max", "max_host_link_gen", M::pcie_link_gen_hostmax);
  add_smi_section(n, 2, "Link Width", "link_widths");
  add_smi_value(n, 3, "Max", "max_link_width", M::pcie_link_width_max, P::lanes);
  add_smi_value(n, 3, "Current", "current_link_width", M::pcie_link_width_current, P::lanes);
  add_smi_section(n, 1, "Bridge Chip", "pci_bridge_chip");
  add_smi_unavailable(n, 2, "Type", "bridge_chip_type");
  add_smi_unavailable(n, 2, "Firmware", "bridge_chip_fw");
  add_smi_value(n, 1, "Replays Since Reset", "replay_counter", M::pcie_replays, P::integer);
  add_smi_value(n, 1, "Replay Number Rollovers", "replay_rollover_counter", M::pcie_replay_rollovers, P::integer);
  add_smi_value(n, 1, "Tx Throughput", "tx_util", M::pcie_throughput_tx, P::kibibytes_a_second);
  add_smi_value(n, 1, "Rx Throughput", "rx_util", M::pcie_throughput_rx, P::kibibytes_a_second);
  add_smi_value(n, 1, "Atomic Caps Outbound", "atomic_caps_outbound", M::pcie_atomics_outbound, P::atomics);
  add_smi_value(n, 1, "Atomic Caps Inbound", "atomic_caps_inbound", M::pcie_atomics_inbound, P::atomics);
}

}  // namespace vramscope
