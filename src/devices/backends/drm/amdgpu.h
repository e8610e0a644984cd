#pragma once
// What amdgpu tells in the folder of a card. Names, units and formats: Documentation/gpu/amdgpu/{driver-misc,thermal,
// ras}.rst of the kernel, and drivers/gpu/drm/amd/amdgpu/amdgpu_ras.c for the counters ("ue: 0", "ce: 0") and the list
// of bad pages ("0x00000001 : 0x00001000 : R").
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "devices/backends/drm/fill.h"

namespace vramscope::drm {

class Amdgpu {
 public:
  Amdgpu() = default;
  // `is_apu`: it has no memory of its own, only a part of the machine's that is set aside for it.
  Amdgpu(const std::string& folder, bool is_apu);

  void read(SysfsFolder& device, Fill& fill, std::int64_t now_ns);
  void read_limits(SysfsFolder& device, Fill& fill);

 private:
  struct Errors {
    std::optional<std::int64_t> corrected, uncorrected, memory_corrected, memory_uncorrected;
    std::optional<std::int64_t> bad_pages;
    bool has_pending = false;
  };
  void read_memory(SysfsFolder& device, Fill& fill);
  void read_errors(SysfsFolder& device, Fill& fill, std::int64_t now_ns);
  void count_errors(SysfsFolder& device);

  bool is_apu_ = false;
  std::vector<std::string> error_files_;  // "ras/umc_err_count"
  std::optional<Errors> errors_;
  std::int64_t errors_ns_ = 0;
};

// amdgpu's table of metrics (the file gpu_metrics): drivers/gpu/drm/amd/include/kgd_pp_interface.h; the reasons are the
// chip-independent ones of drivers/gpu/drm/amd/pm/swsmu/inc/amdgpu_smu.h, which layouts 1.3 and 2.2 to 2.4 have.
struct MetricsTable {
  std::optional<bool> is_apu;                 // by its kind: 1 of cards, 2 and 3 of APUs
  std::optional<std::int64_t> clock_reasons;  // bits of Metric::clocks_event_reasons_active
};
MetricsTable parse_metrics_table(std::string_view bytes);

// Of a list of levels as in pp_dpm_sclk ("0: 500Mhz", "1: 2482Mhz *"): the one in force, marked with a star, and the
// highest.
struct Levels {
  std::optional<std::int64_t> current_mhz, highest_mhz;
};
Levels parse_levels(std::string_view text);

}  // namespace vramscope::drm
