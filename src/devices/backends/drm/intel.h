#pragma once
// Graphics units ("GT") of Intel's cards: clocks, what holds them down, how long they slept.
// i915: drm/cardN/gt/gtM/{rps_*_freq_mhz,throttle_reason_*,rc6_residency_ms}, drivers/gpu/drm/i915/gt/
// intel_gt_sysfs_pm.c of the kernel; before Linux 5.19 drm/cardN/gt_*_freq_mhz and power/rc6_residency_ms.
// xe: tileN/gtM/{freq0/*_freq,freq0/throttle/reason_*,gtidle/idle_residency_ms}, drivers/gpu/drm/xe/xe_gt_freq.c,
// xe_gt_throttle.c and xe_gt_idle.c. Neither tells how much memory the card has, or how much of it is taken, but to
// root in debugfs, in texts that are no interface: both stay unknown.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "devices/backends/drm/cards.h"
#include "devices/backends/drm/fill.h"

namespace vramscope::drm {

class IntelUnits {
 public:
  IntelUnits() = default;
  IntelUnits(const Card& card, bool keeps_open);

  void read(Fill& fill, std::int64_t now_ns);
  void read_limits(Fill& fill);
  void look_anew();

 private:
  // Names of files within a unit's folder.
  struct Names;
  struct Unit {
    SysfsFolder folder;
    bool is_media = false;  // the second of a tile has the video engines
    std::optional<std::int64_t> idle_ms;
  };
  void read_reasons(Fill& fill);
  void read_awake(Fill& fill, std::int64_t now_ns);

  const Names* names_ = nullptr;
  std::vector<Unit> units_;
  std::int64_t idle_ns_ = 0;  // when idle_ms was read
};

}  // namespace vramscope::drm
