#pragma once
// All that sysfs tells of one card.
#include <cstdint>
#include <string>
#include <vector>

#include "devices/backends/drm/amdgpu.h"
#include "devices/backends/drm/cards.h"
#include "devices/backends/drm/hwmon.h"
#include "devices/backends/drm/intel.h"
#include "devices/backends/drm/pcie_link.h"

namespace vramscope::drm {

struct ReaderSettings {
  Roots roots;
  std::vector<std::string> share_folders;  // where lists of names are: "/usr/share"
  bool keeps_open = true;
};

class CardReader {
 public:
  CardReader(Card card, const ReaderSettings& settings);

  // Names and numbers that cannot change.
  void identify(const ReaderSettings& settings, MetricValues& values);
  // What is wanted, as far as the card tells. False when the card is gone. One that sleeps (runtime suspend) is left
  // alone: asking would wake it up. `now_ns` of a clock that does not jump.
  bool read(Fill& fill, std::int64_t now_ns);
  void look_anew();

  const Card& card() const { return card_; }
  // True when its memory is the machine's: an integrated GPU. Unknown for drivers that say nothing of it.
  bool is_unified() const { return is_unified_; }
  bool is_asleep() const { return is_asleep_; }
  bool tells_busy() const { return card_.driver == "amdgpu"; }  // else it follows from what clients tell

 private:
  Card card_;
  SysfsFolder device_;
  SysfsFolder nodes_;
  Hwmon hwmon_;
  PcieLink link_;
  Amdgpu amdgpu_;
  IntelUnits units_;
  bool is_unified_ = false;
  bool is_asleep_ = false;
};

}  // namespace vramscope::drm
