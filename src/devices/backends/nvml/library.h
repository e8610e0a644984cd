#pragma once
// libnvidia-ml.so.1, opened at run time. Every function may be absent: a null pointer.
#include <memory>
#include <string>

#include "base/result.h"
#include "devices/backends/nvml/abi.h"

namespace vramscope::nvml {

using GetUnsigned = int (*)(Handle, unsigned*);
using GetTwo = int (*)(Handle, unsigned*, unsigned*);
using GetText = int (*)(Handle, char*, unsigned);
using GetByKind = int (*)(Handle, int, unsigned*);
using GetLong = int (*)(Handle, unsigned long long*);

struct Functions {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*system_driver_version)(char*, unsigned) = nullptr;
  int (*system_nvml_version)(char*, unsigned) = nullptr;
  int (*system_cuda_version)(int*) = nullptr;
  int (*system_process_name)(unsigned, char*, unsigned) = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle_by_index)(unsigned, Handle*) = nullptr;

  GetText name = nullptr, uuid = nullptr, serial = nullptr, vbios = nullptr, inforom_image = nullptr;
  int (*inforom_version)(Handle, int, char*, unsigned) = nullptr;
  int (*validate_inforom)(Handle) = nullptr;
  int (*pci_info)(Handle, PciInfo*) = nullptr;
  int (*pci_info_ext)(Handle, PciInfoExt*) = nullptr;
  int (*compute_capability)(Handle, int*, int*) = nullptr;
  GetUnsigned minor_number = nullptr, architecture = nullptr, module_id = nullptr;
  int (*hostname)(Handle, Hostname*) = nullptr;

  int (*memory_v2)(Handle, Memory2*) = nullptr;
  int (*memory_v1)(Handle, Memory*) = nullptr;
  int (*bar1)(Handle, Bar1Memory*) = nullptr;
  int (*protected_memory)(Handle, Memory*) = nullptr;
  int (*utilization)(Handle, Utilization*) = nullptr;
  GetTwo encoder = nullptr, decoder = nullptr, jpeg = nullptr, ofa = nullptr;
  int (*encoder_stats)(Handle, unsigned*, unsigned*, unsigned*) = nullptr;

  GetByKind temperature = nullptr, temperature_threshold = nullptr;
  int (*margin)(Handle, MarginTemperature*) = nullptr;
  GetUnsigned fan = nullptr, power = nullptr, power_limit = nullptr, enforced_limit = nullptr, default_limit = nullptr;
  GetTwo limit_range = nullptr;
  GetLong energy = nullptr, reasons = nullptr, supported_reasons = nullptr;
  GetByKind clock = nullptr, max_clock = nullptr, pcie_throughput = nullptr;
  GetUnsigned pstate = nullptr;

  GetUnsigned pcie_generation = nullptr, pcie_width = nullptr, pcie_max_generation = nullptr, pcie_max_width = nullptr;
  GetUnsigned pcie_gpu_max_generation = nullptr, pcie_replays = nullptr;

  GetUnsigned compute_mode = nullptr, persistence = nullptr, display_mode = nullptr, display_active = nullptr;
  GetUnsigned accounting = nullptr, accounting_size = nullptr;
  int (*accounting_pids)(Handle, unsigned*, unsigned*) = nullptr;
  int (*accounting_stats)(Handle, unsigned, AccountingStats*) = nullptr;
  GetTwo operation_mode = nullptr, gsp_mode = nullptr, driver_model = nullptr;
  int (*addressing)(Handle, AddressingMode*) = nullptr;
  GetUnsigned c2c = nullptr;

  GetTwo ecc_mode = nullptr;
  int (*ecc_total)(Handle, int, int, unsigned long long*) = nullptr;
  int (*ecc_at)(Handle, int, int, int, unsigned long long*) = nullptr;
  int (*sram_errors)(Handle, SramErrors*) = nullptr;
  int (*retired_pages)(Handle, int, unsigned*, unsigned long long*) = nullptr;
  GetUnsigned retired_pending = nullptr;
  int (*remapped_rows)(Handle, unsigned*, unsigned*, unsigned*, unsigned*) = nullptr;
  int (*row_histogram)(Handle, RowHistogram*) = nullptr;

  // What only a full query asks for.
  GetText board_part_number = nullptr;
  GetUnsigned brand = nullptr, board_id = nullptr, multi_gpu_board = nullptr;
  int (*pdi)(Handle, Pdi*) = nullptr;
  int (*inforom_flush)(Handle, unsigned long long*, unsigned long*) = nullptr;
  GetUnsigned virtualization = nullptr, host_vgpu_mode = nullptr;
  int (*vgpu_heterogeneous)(Handle, Heterogeneous*) = nullptr;
  int (*gsp_version)(Handle, char*) = nullptr;
  int (*capture_stats)(Handle, CaptureStats*) = nullptr;
  int (*dram_encryption)(Handle, DramEncryption*, DramEncryption*) = nullptr;
  int (*repair_status)(Handle, RepairStatus*) = nullptr;
  int (*unrepairable_memory)(Handle, UnrepairableMemory*) = nullptr;
  GetByKind customer_boost_clock = nullptr;
  GetTwo auto_boost = nullptr;
  int (*capabilities)(Handle, Capabilities*) = nullptr;
  GetTwo supported_memory_clocks = nullptr;
  int (*supported_graphics_clocks)(Handle, unsigned, unsigned*, unsigned*) = nullptr;
  int (*samples)(Handle, int, unsigned long long, int*, unsigned*, Sample*) = nullptr;

  GetTwo mig_mode = nullptr;
  GetUnsigned mig_max = nullptr, gpu_instance = nullptr, compute_instance = nullptr;
  int (*mig_handle)(Handle, unsigned, Handle*) = nullptr;
  int (*mig_attributes)(Handle, MigAttributes*) = nullptr;
  int (*fabric)(Handle, void*) = nullptr;
  int (*platform)(Handle, Platform2*) = nullptr;

  int (*field_values)(Handle, int, FieldValue*) = nullptr;

  // Newest first; the two newer ones have one layout.
  int (*compute_v3)(Handle, unsigned*, ProcessInfo2*) = nullptr;
  int (*compute_v2)(Handle, unsigned*, ProcessInfo2*) = nullptr;
  int (*compute_v1)(Handle, unsigned*, ProcessInfo1*) = nullptr;
  int (*graphics_v3)(Handle, unsigned*, ProcessInfo2*) = nullptr;
  int (*graphics_v2)(Handle, unsigned*, ProcessInfo2*) = nullptr;
  int (*graphics_v1)(Handle, unsigned*, ProcessInfo1*) = nullptr;
  int (*mps_v3)(Handle, unsigned*, ProcessInfo2*) = nullptr;
  int (*mps_v2)(Handle, unsigned*, ProcessInfo2*) = nullptr;
  int (*mps_v1)(Handle, unsigned*, ProcessInfo1*) = nullptr;
  int (*processes_shares)(Handle, ProcessesShares*) = nullptr;
  int (*process_utilization)(Handle, ProcessSample*, unsigned*, unsigned long long) = nullptr;

  int (*event_set_create)(EventSet*) = nullptr;
  int (*event_set_free)(EventSet) = nullptr;
  int (*event_register)(Handle, unsigned long long, EventSet) = nullptr;
  int (*event_wait)(EventSet, EventData*, unsigned) = nullptr;

  int (*gpm_support)(Handle, GpmSupport*) = nullptr;
  int (*gpm_alloc)(GpmSample*) = nullptr;
  int (*gpm_free)(GpmSample) = nullptr;
  int (*gpm_sample)(Handle, GpmSample) = nullptr;
  int (*gpm_mig_sample)(Handle, unsigned, GpmSample) = nullptr;
  int (*gpm_metrics)(GpmMetrics*) = nullptr;
};

// Owns the open library and NVML's initialisation.
class Library {
 public:
  // The library named by the environment variable VRAMSCOPE_NVML, else libnvidia-ml.so.1. The Error tells what to do.
  static Result<std::unique_ptr<Library>> open();
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  Functions call;

 private:
  Library() = default;
  void resolve();
  void* handle_ = nullptr;
  bool is_initialised_ = false;
};

// "590.48": the version of the library, which it tells without a driver too; empty when it cannot be had.
std::string library_version();

// The sentence for an error that stops everything.
Error start_error(int code);

}  // namespace vramscope::nvml
