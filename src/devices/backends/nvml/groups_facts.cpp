// What a GPU is, and the modes it is in.
#include <cstdio>
#include <cstring>
#include <iterator>

#include "devices/backends/nvml/groups.h"

namespace vramscope::nvml {

namespace {

using M = Metric;
using F = Functions;

void set_bus_id(MetricValues& values, const char* bus_id, unsigned domain, unsigned bus, unsigned device) {
  // The domain has eight digits in bus_id and four in bus_id_legacy; nvidia-smi writes eight.
  char text[40];
  if (bus_id[0] != '\0') {
    values.set_text(M::pci_bus_id, std::string_view(bus_id, strnlen(bus_id, 32)));
  } else {
    std::snprintf(text, sizeof text, "%08X:%02X:%02X.0", domain, bus, device);
    values.set_text(M::pci_bus_id, text);
  }
}

int pci(Reading& reading) {
  MetricValues& values = reading.values;
  if (reading.call.pci_info_ext != nullptr) {
    PciInfoExt info{};
    info.version = version_of<PciInfoExt>(1);
    if (reading.call.pci_info_ext(reading.device.handle, &info) == kSuccess) {
      values.set(M::pci_base_class, info.base_class);
      values.set(M::pci_sub_class, info.sub_class);
    }
  }
  if (reading.call.pci_info == nullptr) return kFunctionNotFound;
  PciInfo info{};
  const int code = reading.call.pci_info(reading.device.handle, &info);
  if (code != kSuccess) return code;
  set_bus_id(values, info.bus_id, info.domain, info.bus, info.device);
  values.set(M::pci_domain, info.domain);
  values.set(M::pci_bus, info.bus);
  values.set(M::pci_device, info.device);
  values.set(M::pci_device_id, info.pci_device_id);
  values.set(M::pci_sub_device_id, info.pci_subsystem_id);
  if (values[M::pci_base_class].state == ValueState::not_asked) {
    values.set_missing(M::pci_base_class, ValueState::not_supported, kFunctionNotFound);
    values.set_missing(M::pci_sub_class, ValueState::not_supported, kFunctionNotFound);
  }
  return code;
}

int compute_capability(Reading& reading) {
  if (reading.call.compute_capability == nullptr) return kFunctionNotFound;
  int major = 0;
  int minor = 0;
  const int code = reading.call.compute_capability(reading.device.handle, &major, &minor);
  if (code != kSuccess) return code;
  char text[32];
  std::snprintf(text, sizeof text, "%d.%d", major, minor);
  reading.values.set_text(M::compute_cap, text);
  reading.device.is_ga100 = major == 8 && minor == 0;
  return code;
}

const char* architecture_name(unsigned number) {  // NVML_DEVICE_ARCH_*
  switch (number) {
    case 2:
      return "Kepler";
    case 3:
      return "Maxwell";
    case 4:
      return "Pascal";
    case 5:
      return "Volta";
    case 6:
      return "Turing";
    case 7:
      return "Ampere";
    case 8:
      return "Ada Lovelace";
    case 9:
      return "Hopper";
    case 10:
      return "Blackwell";
    case 13:
      return "Rubin";
    default:
      return nullptr;
  }
}

int architecture(Reading& reading) {
  if (reading.call.architecture == nullptr) return kFunctionNotFound;
  unsigned number = 0;
  const int code = reading.call.architecture(reading.device.handle, &number);
  if (code != kSuccess) return code;
  const char* const name = architecture_name(number);
  if (name == nullptr) return kNotSupported;
  reading.values.set_text(M::architecture, name);
  return code;
}

template <int object, Metric metric>
int inforom(Reading& reading) {
  if (reading.call.inforom_version == nullptr) return kFunctionNotFound;
  char room[32] = {};
  const int code = reading.call.inforom_version(reading.device.handle, object, room, sizeof room - 1);
  if (code == kSuccess) reading.values.set_text(metric, room);
  return code;
}

int validate_inforom(Reading& reading) {
  if (reading.call.validate_inforom == nullptr) return kFunctionNotFound;
  const int code = reading.call.validate_inforom(reading.device.handle);
  if (code != kSuccess && code != kCorruptedInforom) return code;
  reading.values.set_text(M::inforom_checksum_validation, code == kSuccess ? "valid" : "invalid");
  return kSuccess;
}

int addressing(Reading& reading) {
  if (reading.call.addressing == nullptr) return kFunctionNotFound;
  AddressingMode mode{version_of<AddressingMode>(1), 0};
  const int code = reading.call.addressing(reading.device.handle, &mode);
  if (code == kSuccess) reading.values.set(M::addressing_mode, mode.value);
  return code;
}

int hostname(Reading& reading) {
  if (reading.call.hostname == nullptr) return kFunctionNotFound;
  Hostname name{};
  const int code = reading.call.hostname(reading.device.handle, &name);
  if (code != kSuccess) return code;
  const std::size_t size = strnlen(name.value, sizeof name.value);
  if (size == 0) return kNotSupported;  // nobody has set one
  reading.values.set_text(M::hostname, std::string_view(name.value, size));
  return code;
}

// Windows alone has several; the function is there on Linux and says so.
int driver_model(Reading& reading) {
  if (reading.call.driver_model == nullptr) return kFunctionNotFound;
  constexpr const char* kNames[] = {"WDDM", "TCC", "MCDM"};
  unsigned current = 0;
  unsigned pending = 0;
  const int code = reading.call.driver_model(reading.device.handle, &current, &pending);
  if (code != kSuccess) return code;
  if (current < std::size(kNames)) reading.values.set_text(M::driver_model_current, kNames[current]);
  if (pending < std::size(kNames)) reading.values.set_text(M::driver_model_pending, kNames[pending]);
  return code;
}

int mig_attributes(Reading& reading) {
  if (!reading.device.is_mig) return kNotSupported;
  if (reading.call.mig_attributes == nullptr) return kFunctionNotFound;
  MigAttributes attributes{};
  const int code = reading.call.mig_attributes(reading.device.handle, &attributes);
  if (code == kSuccess) {
    reading.values.set(M::mig_multiprocessors, attributes.multiprocessors);
    reading.values.set(M::mig_gpu_instance_slices, attributes.gpu_slices);
    reading.values.set(M::mig_copy_engines, attributes.copy_engines);
    reading.values.set(M::mig_encoders, attributes.encoders);
    reading.values.set(M::mig_decoders, attributes.decoders);
    reading.values.set(M::mig_ofas, attributes.ofas);
    reading.values.set(M::mig_jpegs, attributes.jpegs);
  }
  return code;
}

void set_uuid(MetricValues& values, const unsigned char (&bytes)[16]) {
  std::string text;
  for (std::size_t i = 0; i < sizeof bytes; ++i) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits;
  }
  values.set_text(M::fabric_cluster_uuid, text);
}

struct Health {
  unsigned shift;
  Metric metric;
};
constexpr Health kHealth[] = {{0, M::fabric_health_bandwidth},
                              {2, M::fabric_health_route_recovery_in_progress},
                              {4, M::fabric_health_route_unhealthy},
                              {6, M::fabric_health_access_timeout_recovery},
                              {12, M::fabric_health_partition_assigned}};

void set_health(MetricValues& values, unsigned mask) {
  for (const Health& health : kHealth) {
    const unsigned bits = mask >> health.shift & 3;  // 0 not supported, 1 true, 2 false
    if (bits == 1 || bits == 2) values.set(health.metric, bits == 1 ? 1 : 0);
  }
}

constexpr Metric kFabric[] = {M::fabric_state,
                              M::fabric_status,
                              M::fabric_clique_id,
                              M::fabric_cluster_uuid,
                              M::fabric_health_summary,
                              M::fabric_health_bandwidth,
                              M::fabric_health_route_recovery_in_progress,
                              M::fabric_health_route_unhealthy,
                              M::fabric_health_access_timeout_recovery,
                              M::fabric_health_partition_assigned};

int fabric(Reading& reading) {
  if (reading.call.fabric == nullptr) return kFunctionNotFound;
  MetricValues& values = reading.values;
  Fabric3 info{};
  info.version = version_of<Fabric3>(3);
  int code = reading.call.fabric(reading.device.handle, &info);
  if (code == kArgumentVersionMismatch || code == kInvalidArgument) {
    Fabric2 older{};
    older.version = version_of<Fabric2>(2);
    code = reading.call.fabric(reading.device.handle, &older);
    std::memcpy(info.cluster, older.cluster, sizeof info.cluster);
    info.status = older.status;
    info.clique = older.clique;
    info.state = older.state;
    info.health = older.health;
    info.summary = 0;
  }
  if (code != kSuccess) return code;
  if (info.state == 0) return kNotSupported;
  for (const M metric : kFabric) values.set_missing(metric, ValueState::not_supported);
  values.set(M::fabric_state, info.state);
  constexpr unsigned char kCompleted = 3;  // only then the rest means anything
  if (info.state != kCompleted) return kSuccess;
  values.set_text(M::fabric_status, info.status == kSuccess ? "Success" : "Failure");
  values.set(M::fabric_clique_id, info.clique);
  set_uuid(values, info.cluster);
  if (info.summary != 0) values.set(M::fabric_health_summary, info.summary);
  set_health(values, info.health);
  return kSuccess;
}

int platform(Reading& reading) {
  if (reading.call.platform == nullptr) return kFunctionNotFound;
  Platform2 info{};
  info.version = version_of<Platform2>(2);
  const int code = reading.call.platform(reading.device.handle, &info);
  if (code != kSuccess) return code;
  MetricValues& values = reading.values;
  const char* const serial = reinterpret_cast<const char*>(info.chassis_serial);
  values.set_text(M::platform_chassis_serial_number,
                  std::string_view(serial, strnlen(serial, sizeof info.chassis_serial)));
  values.set(M::platform_slot_number, info.slot);
  values.set(M::platform_tray_index, info.tray);
  values.set(M::platform_host_id, info.host);
  values.set(M::platform_peer_type, info.peer_type);
  values.set(M::platform_module_id, info.module);
  std::uint64_t guid = 0;
  std::memcpy(&guid, info.fabric_guid, sizeof guid);
  values.set(M::platform_gpu_fabric_guid, static_cast<std::int64_t>(guid));
  return code;
}

void add_platform(Groups& groups) {
  groups.push_back(
      group<M::fabric_state, M::fabric_status, M::fabric_clique_id, M::fabric_cluster_uuid, M::fabric_health_summary,
            M::fabric_health_bandwidth, M::fabric_health_route_recovery_in_progress, M::fabric_health_route_unhealthy,
            M::fabric_health_access_timeout_recovery, M::fabric_health_partition_assigned>(fabric));
  groups.push_back(
      group<M::platform_chassis_serial_number, M::platform_slot_number, M::platform_tray_index, M::platform_host_id,
            M::platform_peer_type, M::platform_module_id, M::platform_gpu_fabric_guid>(platform));
}

}  // namespace

void add_facts(Groups& groups) {
  groups.push_back(group<M::name>(text<&F::name, M::name>, true));
  groups.push_back(group<M::uuid>(text<&F::uuid, M::uuid>, true));
  groups.push_back(group<M::serial>(text<&F::serial, M::serial>));
  groups.push_back(group<M::vbios_version>(text<&F::vbios, M::vbios_version>));
  groups.push_back(group<M::inforom_img>(text<&F::inforom_image, M::inforom_img>));
  groups.push_back(group<M::inforom_oem>(inforom<0, M::inforom_oem>));
  groups.push_back(group<M::inforom_ecc>(inforom<1, M::inforom_ecc>));
  groups.push_back(group<M::inforom_pwr>(inforom<2, M::inforom_pwr>));
  groups.push_back(group<M::inforom_checksum_validation>(validate_inforom));
  groups.push_back(group<M::pci_bus_id, M::pci_domain, M::pci_bus, M::pci_device, M::pci_base_class, M::pci_sub_class,
                         M::pci_device_id, M::pci_sub_device_id>(pci));
  groups.push_back(group<M::compute_cap>(compute_capability));
  groups.push_back(group<M::architecture>(architecture));
  groups.push_back(group<M::hostname>(hostname));
  groups.push_back(group<M::minor_number>(one<&F::minor_number, M::minor_number>));
  groups.push_back(group<M::mig_multiprocessors, M::mig_gpu_instance_slices, M::mig_copy_engines, M::mig_encoders,
                         M::mig_decoders, M::mig_ofas, M::mig_jpegs>(mig_attributes, true));
  groups.push_back(group<M::clocks_max_graphics>(of_kind<&F::max_clock, kGraphics, M::clocks_max_graphics>));
  groups.push_back(group<M::clocks_max_sm>(of_kind<&F::max_clock, kSm, M::clocks_max_sm>));
  groups.push_back(group<M::clocks_max_memory>(of_kind<&F::max_clock, kMemoryClock, M::clocks_max_memory>));
  groups.push_back(group<M::clocks_max_video>(of_kind<&F::max_clock, kVideo, M::clocks_max_video>));
  groups.push_back(group<M::pcie_link_gen_max>(one<&F::pcie_max_generation, M::pcie_link_gen_max>));
  groups.push_back(group<M::pcie_link_gen_gpumax>(one<&F::pcie_gpu_max_generation, M::pcie_link_gen_gpumax>));
  groups.push_back(group<M::pcie_link_gen_hostmax>(host_port_generation));
  groups.push_back(group<M::pcie_link_width_max>(one<&F::pcie_max_width, M::pcie_link_width_max>));
  add_platform(groups);
}

void add_modes(Groups& groups) {
  groups.push_back(group<M::compute_mode>(one<&F::compute_mode, M::compute_mode>));
  groups.push_back(group<M::persistence_mode>(one<&F::persistence, M::persistence_mode>));
  groups.push_back(group<M::display_attached>(one<&F::display_mode, M::display_attached>));
  groups.push_back(group<M::display_active>(one<&F::display_active, M::display_active>));
  groups.push_back(group<M::accounting_mode>(one<&F::accounting, M::accounting_mode>));
  groups.push_back(group<M::accounting_buffer_size>(one<&F::accounting_size, M::accounting_buffer_size>));
  groups.push_back(group<M::driver_model_current, M::driver_model_pending>(driver_model));
  groups.push_back(group<M::gom_current, M::gom_pending>(two<&F::operation_mode, M::gom_current, M::gom_pending>));
  groups.push_back(
      group<M::gsp_mode_current, M::gsp_mode_default>(two<&F::gsp_mode, M::gsp_mode_current, M::gsp_mode_default>));
  groups.push_back(group<M::addressing_mode>(addressing));
  groups.push_back(group<M::c2c_mode>(one<&F::c2c, M::c2c_mode>));
  groups.push_back(
      group<M::mig_mode_current, M::mig_mode_pending>(two<&F::mig_mode, M::mig_mode_current, M::mig_mode_pending>));
  groups.push_back(
      group<M::ecc_mode_current, M::ecc_mode_pending>(two<&F::ecc_mode, M::ecc_mode_current, M::ecc_mode_pending>));
}

}  // namespace vramscope::nvml
