#pragma once
// The part of NVML's binary interface that is used here, declared by us: NVML is opened at run time, so that no
// header and no library of NVIDIA's is needed to build. Layouts and numbers are those of nvml.h, API version 13, as
// published in github.com/NVIDIA/go-nvml (gen/nvml/nvml.h); each type names its counterpart there. Sizes are asserted
// below.
#include <cstddef>
#include <cstdint>

namespace vramscope::nvml {

// nvmlReturn_t, "Device Enums".
enum Code : int {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNoPermission = 4,
  kNotFound = 6,
  kInsufficientSize = 7,
  kInsufficientPower = 8,
  kDriverNotLoaded = 9,
  kTimeout = 10,
  kIrqIssue = 11,
  kLibraryNotFound = 12,
  kFunctionNotFound = 13,
  kCorruptedInforom = 14,
  kGpuIsLost = 15,
  kResetRequired = 16,
  kVersionMismatch = 18,
  kNoData = 21,
  kArgumentVersionMismatch = 25,
  kDeprecated = 26,
  kUnknown = 999
};

using Handle = struct Opaque*;  // nvmlDevice_t

// A structure with a version begins with its size and, in the highest byte, its version.
template <typename T>
constexpr unsigned version_of(unsigned number) {
  return static_cast<unsigned>(sizeof(T)) | (number << 24);
}

struct Memory {  // nvmlMemory_t; `used` includes what the driver reserves
  std::uint64_t total, free, used;
};
struct Memory2 {  // nvmlMemory_v2_t; `used` does not
  unsigned version;
  std::uint64_t total, reserved, free, used;
};
struct Bar1Memory {  // nvmlBAR1Memory_t
  std::uint64_t total, free, used;
};
struct Utilization {  // nvmlUtilization_t
  unsigned gpu, memory;
};
struct PciInfo {  // nvmlPciInfo_t
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
struct PciInfoExt {  // nvmlPciInfoExt_v1_t
  unsigned version, domain, bus, device, pci_device_id, pci_subsystem_id, base_class, sub_class;
  char bus_id[32];
};
struct ProcessInfo1 {  // nvmlProcessInfo_v1_t
  unsigned pid;
  std::uint64_t used;
};
struct ProcessInfo2 {  // nvmlProcessInfo_v2_t, of the functions _v2 and _v3
  unsigned pid;
  std::uint64_t used;
  unsigned gpu_instance, compute_instance;
};
struct ProcessSample {  // nvmlProcessUtilizationSample_t
  unsigned pid;
  std::uint64_t time_us;
  unsigned sm, memory, encoder, decoder;
};
struct ProcessShares {  // nvmlProcessUtilizationInfo_v1_t
  std::uint64_t time_us;
  unsigned pid, sm, memory, encoder, decoder, jpeg, ofa;
};
struct ProcessesShares {  // nvmlProcessesUtilizationInfo_v1_t
  unsigned version, count;
  std::uint64_t since_us;
  ProcessShares* entries;
};
struct AccountingStats {  // nvmlAccountingStats_t; what is not available has all bits set
  unsigned gpu, memory;
  std::uint64_t max_memory, time_ms, start_us;
  unsigned is_running, reserved[5];
};
struct Hostname {  // nvmlHostname_v1_t
  char value[64];
};
union Number {  // nvmlValue_t
  double as_double;
  int as_int;
  unsigned as_unsigned;
  unsigned long as_unsigned_long;
  unsigned long long as_unsigned_long_long;
  long long as_long_long;
  unsigned short as_unsigned_short;
};
struct FieldValue {  // nvmlFieldValue_t
  unsigned field, scope;
  long long timestamp, latency_us;
  int type;  // nvmlValueType_t
  int code;
  Number value;
};
struct RowHistogram {  // nvmlRowRemapperHistogramValues_t
  unsigned max, high, partial, low, none;
};
struct SramErrors {  // nvmlEccSramErrorStatus_v1_t
  unsigned version;
  std::uint64_t aggregate_parity, aggregate_secded, aggregate_corrected;
  std::uint64_t volatile_parity, volatile_secded, volatile_corrected;
  std::uint64_t l2, sm, pcie, mcu, other;
  unsigned is_threshold_exceeded;
};
struct MarginTemperature {  // nvmlMarginTemperature_v1_t
  unsigned version;
  int margin;
};
struct AddressingMode {  // nvmlDeviceAddressingMode_v1_t
  unsigned version, value;
};
struct Fabric2 {  // nvmlGpuFabricInfo_v2_t
  unsigned version;
  unsigned char cluster[16];
  int status;
  unsigned clique;
  unsigned char state;
  unsigned health;
};
struct Fabric3 {  // nvmlGpuFabricInfo_v3_t
  unsigned version;
  unsigned char cluster[16];
  int status;
  unsigned clique;
  unsigned char state;
  unsigned health;
  unsigned char summary;
};
struct Platform2 {  // nvmlPlatformInfo_v2_t
  unsigned version;
  unsigned char fabric_guid[16], chassis_serial[16];
  unsigned char slot, tray, host, peer_type, module;
};
struct MigAttributes {  // nvmlDeviceAttributes_t
  unsigned multiprocessors, copy_engines, decoders, encoders, jpegs, ofas, gpu_slices, compute_slices;
  std::uint64_t memory_mib;
};
struct Pdi {  // nvmlPdi_v1_t
  unsigned version;
  std::uint64_t value;
};
struct DramEncryption {  // nvmlDramEncryptionInfo_v1_t
  unsigned version, state;
};
struct RepairStatus {  // nvmlRepairStatus_v1_t
  unsigned version, channel_pending, tpc_pending;
};
struct UnrepairableMemory {  // nvmlUnrepairableMemoryStatus_v1_t, which has no version
  unsigned is_unrepairable;
};
struct Heterogeneous {  // nvmlVgpuHeterogeneousMode_v1_t
  unsigned version, mode;
};
struct Capabilities {  // nvmlDeviceCapabilities_v1_t
  unsigned version, mask;
};
constexpr unsigned kCapabilityEgm = 1;  // NVML_DEV_CAP_EGM
struct CaptureStats {                   // nvmlFBCStats_t
  unsigned sessions, fps, latency_us;
};
struct Sample {  // nvmlSample_t
  std::uint64_t time_us;
  Number value;
};
struct EventData {  // nvmlEventData_t
  Handle device;
  std::uint64_t type, data;
  unsigned gpu_instance, compute_instance;
};
using EventSet = struct OpaqueEvents*;
constexpr std::uint64_t kXidEvent = 8;  // nvmlEventTypeXidCriticalError

using GpmSample = struct OpaqueGpm*;
struct GpmMetric {  // nvmlGpmMetric_t
  unsigned id;
  int code;
  double value;
  const char *short_name, *long_name, *unit;
};
constexpr std::size_t kGpmRoom = 333;  // NVML_GPM_METRIC_MAX; the driver looks at `count` entries
struct GpmMetrics {                    // nvmlGpmMetricsGet_t
  unsigned version, count;
  GpmSample before, now;
  GpmMetric metrics[kGpmRoom];
};
struct GpmSupport {  // nvmlGpmSupport_t
  unsigned version, is_supported;
};

static_assert(sizeof(Memory) == 24 && sizeof(Memory2) == 40 && sizeof(Bar1Memory) == 24);
static_assert(sizeof(PciInfo) == 68 && sizeof(PciInfoExt) == 64);
static_assert(sizeof(ProcessInfo1) == 16 && sizeof(ProcessInfo2) == 24 && sizeof(ProcessSample) == 32);
static_assert(sizeof(ProcessShares) == 40 && sizeof(ProcessesShares) == 24 && sizeof(AccountingStats) == 56);
static_assert(sizeof(FieldValue) == 40 && sizeof(RowHistogram) == 20 && sizeof(SramErrors) == 104);
static_assert(sizeof(Fabric2) == 36 && sizeof(Fabric3) == 40 && sizeof(Platform2) == 44);
static_assert(sizeof(MigAttributes) == 40 && sizeof(EventData) == 32 && sizeof(GpmMetric) == 40);

static_assert(sizeof(Pdi) == 16 && sizeof(DramEncryption) == 8 && sizeof(RepairStatus) == 12);
static_assert(sizeof(Heterogeneous) == 8 && sizeof(Capabilities) == 8 && sizeof(CaptureStats) == 12);
static_assert(sizeof(UnrepairableMemory) == 4 && sizeof(Sample) == 16);

// nvmlClockType_t
enum Clock : int { kGraphics = 0, kSm = 1, kMemoryClock = 2, kVideo = 3 };

}  // namespace vramscope::nvml
