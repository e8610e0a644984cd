#include "devices/backends/nvml/library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "fmt/format.h"
#include "text/catalogue.h"

namespace vramscope::nvml {

namespace {

constexpr const char* kLibrary = "libnvidia-ml.so.1";
constexpr const char* kWslLibrary = "/usr/lib/wsl/lib/libnvidia-ml.so.1";  // not on the loader's path there

// Sets `function` to the first of the symbols that the library has.
template <typename Function, typename... Names>
void find(void* library, Function& function, Names... names) {
  for (const char* name : {names...}) {
    void* address = dlsym(library, name);
    if (address == nullptr) continue;
    static_assert(sizeof function == sizeof address);
    std::memcpy(&function, &address, sizeof address);
    return;
  }
}

void find_identity(void* at, Functions& f) {
  find(at, f.init, "nvmlInit_v2", "nvmlInit");
  find(at, f.shutdown, "nvmlShutdown");
  find(at, f.system_driver_version, "nvmlSystemGetDriverVersion");
  find(at, f.system_nvml_version, "nvmlSystemGetNVMLVersion");
  find(at, f.system_cuda_version, "nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion");
  find(at, f.system_process_name, "nvmlSystemGetProcessName");
  find(at, f.count, "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount");
  find(at, f.handle_by_index, "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex");
  find(at, f.name, "nvmlDeviceGetName");
  find(at, f.uuid, "nvmlDeviceGetUUID");
  find(at, f.serial, "nvmlDeviceGetSerial");
  find(at, f.vbios, "nvmlDeviceGetVbiosVersion");
  find(at, f.inforom_image, "nvmlDeviceGetInforomImageVersion");
  find(at, f.inforom_version, "nvmlDeviceGetInforomVersion");
  find(at, f.validate_inforom, "nvmlDeviceValidateInforom");
  // The first version wrote a shorter structure, into which the rest of this one would be left unset.
  find(at, f.pci_info, "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo");
  find(at, f.pci_info_ext, "nvmlDeviceGetPciInfoExt");
  find(at, f.compute_capability, "nvmlDeviceGetCudaComputeCapability");
  find(at, f.minor_number, "nvmlDeviceGetMinorNumber");
  find(at, f.architecture, "nvmlDeviceGetArchitecture");
  find(at, f.module_id, "nvmlDeviceGetModuleId");
  find(at, f.hostname, "nvmlDeviceGetHostname_v1");
  find(at, f.mig_mode, "nvmlDeviceGetMigMode");
  find(at, f.mig_max, "nvmlDeviceGetMaxMigDeviceCount");
  find(at, f.mig_handle, "nvmlDeviceGetMigDeviceHandleByIndex");
  find(at, f.mig_attributes, "nvmlDeviceGetAttributes_v2", "nvmlDeviceGetAttributes");
  find(at, f.gpu_instance, "nvmlDeviceGetGpuInstanceId");
  find(at, f.compute_instance, "nvmlDeviceGetComputeInstanceId");
  find(at, f.fabric, "nvmlDeviceGetGpuFabricInfoV");
  find(at, f.platform, "nvmlDeviceGetPlatformInfo");
}

void find_readings(void* at, Functions& f) {
  find(at, f.memory_v2, "nvmlDeviceGetMemoryInfo_v2");
  find(at, f.memory_v1, "nvmlDeviceGetMemoryInfo");
  find(at, f.bar1, "nvmlDeviceGetBAR1MemoryInfo");
  find(at, f.protected_memory, "nvmlDeviceGetConfComputeProtectedMemoryUsage");
  find(at, f.utilization, "nvmlDeviceGetUtilizationRates");
  find(at, f.encoder, "nvmlDeviceGetEncoderUtilization");
  find(at, f.decoder, "nvmlDeviceGetDecoderUtilization");
  find(at, f.jpeg, "nvmlDeviceGetJpgUtilization");
  find(at, f.ofa, "nvmlDeviceGetOfaUtilization");
  find(at, f.encoder_stats, "nvmlDeviceGetEncoderStats");
  find(at, f.temperature, "nvmlDeviceGetTemperature");
  find(at, f.temperature_threshold, "nvmlDeviceGetTemperatureThreshold");
  find(at, f.margin, "nvmlDeviceGetMarginTemperature");
  find(at, f.fan, "nvmlDeviceGetFanSpeed");
  find(at, f.power, "nvmlDeviceGetPowerUsage");
  find(at, f.power_limit, "nvmlDeviceGetPowerManagementLimit");
  find(at, f.enforced_limit, "nvmlDeviceGetEnforcedPowerLimit");
  find(at, f.default_limit, "nvmlDeviceGetPowerManagementDefaultLimit");
  find(at, f.limit_range, "nvmlDeviceGetPowerManagementLimitConstraints");
  find(at, f.energy, "nvmlDeviceGetTotalEnergyConsumption");
  find(at, f.reasons, "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons");
  find(at, f.supported_reasons, "nvmlDeviceGetSupportedClocksEventReasons",
       "nvmlDeviceGetSupportedClocksThrottleReasons");
  find(at, f.clock, "nvmlDeviceGetClockInfo");
  find(at, f.max_clock, "nvmlDeviceGetMaxClockInfo");
  find(at, f.pstate, "nvmlDeviceGetPerformanceState", "nvmlDeviceGetPowerState");
  find(at, f.pcie_throughput, "nvmlDeviceGetPcieThroughput");
  find(at, f.pcie_generation, "nvmlDeviceGetCurrPcieLinkGeneration");
  find(at, f.pcie_width, "nvmlDeviceGetCurrPcieLinkWidth");
  find(at, f.pcie_max_generation, "nvmlDeviceGetMaxPcieLinkGeneration");
  find(at, f.pcie_max_width, "nvmlDeviceGetMaxPcieLinkWidth");
  find(at, f.pcie_gpu_max_generation, "nvmlDeviceGetGpuMaxPcieLinkGeneration");
  find(at, f.pcie_replays, "nvmlDeviceGetPcieReplayCounter");
}

void find_modes_and_health(void* at, Functions& f) {
  find(at, f.compute_mode, "nvmlDeviceGetComputeMode");
  find(at, f.persistence, "nvmlDeviceGetPersistenceMode");
  find(at, f.display_mode, "nvmlDeviceGetDisplayMode");
  find(at, f.display_active, "nvmlDeviceGetDisplayActive");
  find(at, f.accounting, "nvmlDeviceGetAccountingMode");
  find(at, f.accounting_size, "nvmlDeviceGetAccountingBufferSize");
  find(at, f.accounting_pids, "nvmlDeviceGetAccountingPids");
  find(at, f.accounting_stats, "nvmlDeviceGetAccountingStats");
  find(at, f.driver_model, "nvmlDeviceGetDriverModel_v2", "nvmlDeviceGetDriverModel");
  find(at, f.operation_mode, "nvmlDeviceGetGpuOperationMode");
  find(at, f.gsp_mode, "nvmlDeviceGetGspFirmwareMode");
  find(at, f.addressing, "nvmlDeviceGetAddressingMode");
  find(at, f.c2c, "nvmlDeviceGetC2cModeInfoV");
  find(at, f.ecc_mode, "nvmlDeviceGetEccMode");
  find(at, f.ecc_total, "nvmlDeviceGetTotalEccErrors");
  find(at, f.ecc_at, "nvmlDeviceGetMemoryErrorCounter");
  find(at, f.sram_errors, "nvmlDeviceGetSramEccErrorStatus");
  find(at, f.retired_pages, "nvmlDeviceGetRetiredPages");
  find(at, f.retired_pending, "nvmlDeviceGetRetiredPagesPendingStatus");
  find(at, f.remapped_rows, "nvmlDeviceGetRemappedRows");
  find(at, f.row_histogram, "nvmlDeviceGetRowRemapperHistogram");
  find(at, f.field_values, "nvmlDeviceGetFieldValues");
}

void find_query(void* at, Functions& f) {
  find(at, f.brand, "nvmlDeviceGetBrand");
  find(at, f.board_id, "nvmlDeviceGetBoardId");
  find(at, f.multi_gpu_board, "nvmlDeviceGetMultiGpuBoard");
  find(at, f.board_part_number, "nvmlDeviceGetBoardPartNumber");
  find(at, f.pdi, "nvmlDeviceGetPdi");
  find(at, f.inforom_flush, "nvmlDeviceGetLastBBXFlushTime");
  find(at, f.virtualization, "nvmlDeviceGetVirtualizationMode");
  find(at, f.host_vgpu_mode, "nvmlDeviceGetHostVgpuMode");
  find(at, f.vgpu_heterogeneous, "nvmlDeviceGetVgpuHeterogeneousMode");
  find(at, f.gsp_version, "nvmlDeviceGetGspFirmwareVersion");
  find(at, f.capture_stats, "nvmlDeviceGetFBCStats");
  find(at, f.dram_encryption, "nvmlDeviceGetDramEncryptionMode");
  find(at, f.repair_status, "nvmlDeviceGetRepairStatus");
  find(at, f.unrepairable_memory, "nvmlDeviceGetUnrepairableMemoryFlag_v1");
  find(at, f.customer_boost_clock, "nvmlDeviceGetMaxCustomerBoostClock");
  find(at, f.auto_boost, "nvmlDeviceGetAutoBoostedClocksEnabled");
  find(at, f.capabilities, "nvmlDeviceGetCapabilities");
  find(at, f.supported_memory_clocks, "nvmlDeviceGetSupportedMemoryClocks");
  find(at, f.supported_graphics_clocks, "nvmlDeviceGetSupportedGraphicsClocks");
  find(at, f.samples, "nvmlDeviceGetSamples");
}

void find_processes_and_events(void* at, Functions& f) {
  find(at, f.compute_v3, "nvmlDeviceGetComputeRunningProcesses_v3");
  find(at, f.compute_v2, "nvmlDeviceGetComputeRunningProcesses_v2");
  find(at, f.compute_v1, "nvmlDeviceGetComputeRunningProcesses");
  find(at, f.graphics_v3, "nvmlDeviceGetGraphicsRunningProcesses_v3");
  find(at, f.graphics_v2, "nvmlDeviceGetGraphicsRunningProcesses_v2");
  find(at, f.graphics_v1, "nvmlDeviceGetGraphicsRunningProcesses");
  find(at, f.mps_v3, "nvmlDeviceGetMPSComputeRunningProcesses_v3");
  find(at, f.mps_v2, "nvmlDeviceGetMPSComputeRunningProcesses_v2");
  find(at, f.mps_v1, "nvmlDeviceGetMPSComputeRunningProcesses");
  find(at, f.processes_shares, "nvmlDeviceGetProcessesUtilizationInfo");
  find(at, f.process_utilization, "nvmlDeviceGetProcessUtilization");
  find(at, f.event_set_create, "nvmlEventSetCreate");
  find(at, f.event_set_free, "nvmlEventSetFree");
  find(at, f.event_register, "nvmlDeviceRegisterEvents");
  // The first version's structure is shorter, and a prefix of this one.
  find(at, f.event_wait, "nvmlEventSetWait_v2", "nvmlEventSetWait");
  find(at, f.gpm_support, "nvmlGpmQueryDeviceSupport");
  find(at, f.gpm_alloc, "nvmlGpmSampleAlloc");
  find(at, f.gpm_free, "nvmlGpmSampleFree");
  find(at, f.gpm_sample, "nvmlGpmSampleGet");
  find(at, f.gpm_mig_sample, "nvmlGpmMigSampleGet");
  find(at, f.gpm_metrics, "nvmlGpmMetricsGet");
}

const char* start_sentence(int code) {
  switch (code) {
    case kDriverNotLoaded:
      return N_(
          "The NVIDIA driver is not loaded; load it with `modprobe nvidia`, or restart the machine if it was just "
          "installed.");
    case kVersionMismatch:
      return N_(
          "The NVIDIA kernel module and the driver's library are of different versions, as after an update; "
          "restart the machine, or load the kernel modules again.");
    case kNoPermission:
      return N_(
          "The NVIDIA driver refuses this user; run as one who may open /dev/nvidiactl and /dev/nvidia0, or give "
          "the container the GPU's devices.");
    case kGpuIsLost:
      return N_(
          "The NVIDIA driver has lost a GPU, which does not answer on the bus any more; look for Xid in the kernel "
          "log and restart the machine.");
    case kIrqIssue:
      return N_(
          "The NVIDIA kernel module gets no interrupts from a GPU; look for NVRM in the kernel log and check the "
          "card's seating and power.");
    case kInsufficientPower:
      return N_(
          "A GPU lacks power: its power cables are not connected properly; check them and start the machine again.");
    case kFunctionNotFound:
      return N_("The NVIDIA driver's library lacks functions that every version has; install the driver again.");
    case kNotFound:
      return N_(
          "The NVIDIA driver is loaded but sees no GPU; check with `lspci`, and in a container that GPUs are given "
          "to it.");
    default:
      return N_("The NVIDIA driver does not start (NVML error {code}); look for NVRM in the kernel log.");
  }
}

}  // namespace

Error start_error(int code) {
  // nvidia-smi ends with 255 where it knows no better.
  return {ExitCode::machine, fmt::format(fmt::runtime(tr(start_sentence(code))), fmt::arg("code", code)),
          code == kUnknown ? 255 : code};
}

void Library::resolve() {
  find_identity(handle_, call);
  find_readings(handle_, call);
  find_modes_and_health(handle_, call);
  find_query(handle_, call);
  find_processes_and_events(handle_, call);
}

namespace {

const char* library_path() {
  const char* asked = std::getenv("VRAMSCOPE_NVML");
  return asked != nullptr && *asked != '\0' ? asked : kLibrary;
}

void* open_library(const char* path) {
  void* const handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  return handle == nullptr && path == kLibrary ? dlopen(kWslLibrary, RTLD_LAZY | RTLD_LOCAL) : handle;
}

}  // namespace

// "13.590.48.01" is version 590.48 for CUDA 13.
std::string library_version() {
  void* const handle = open_library(library_path());
  if (handle == nullptr) return {};
  int (*version)(char*, unsigned) = nullptr;
  find(handle, version, "nvmlSystemGetNVMLVersion");
  char room[96] = {};
  std::string text;
  if (version != nullptr && version(room, sizeof room - 1) == kSuccess) text = room;
  dlclose(handle);
  text.erase(0, text.find('.') + 1);
  const std::size_t minor = text.find('.');
  const std::size_t patch = minor == text.npos ? text.npos : text.find('.', minor + 1);
  return text.substr(0, patch);
}

Result<std::unique_ptr<Library>> Library::open() {
  std::unique_ptr<Library> library(new Library);
  const char* path = library_path();
  library->handle_ = open_library(path);
  if (library->handle_ == nullptr) {
    return Error{
        ExitCode::machine,
        fmt::format(fmt::runtime(tr("The NVIDIA driver's library {library} cannot be opened; install the NVIDIA "
                                    "driver, or start the container with the NVIDIA container runtime.")),
                    fmt::arg("library", path)),
        kLibraryNotFound};
  }
  library->resolve();
  const Functions& f = library->call;
  if (f.init == nullptr || f.count == nullptr || f.handle_by_index == nullptr) return start_error(kFunctionNotFound);
  const int code = f.init();
  if (code != kSuccess) return start_error(code);
  library->is_initialised_ = true;
  return library;
}

Library::~Library() {
  if (is_initialised_ && call.shutdown != nullptr) call.shutdown();
  if (handle_ != nullptr) dlclose(handle_);
}

}  // namespace vramscope::nvml
