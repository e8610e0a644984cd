#pragma once
// The PCIe link of a card. {current,max}_link_{speed,width}: Documentation/ABI/testing/sysfs-bus-pci of the kernel.
#include <string_view>
#include <vector>

#include "devices/backends/drm/cards.h"
#include "devices/backends/drm/fill.h"

namespace vramscope::drm {

// Cards carry switches of their own (AMD since Vega, Intel's Arc), and the link between a switch and the chip on it is
// always fast: what counts is the slowest of all links on the way to the machine.
class PcieLink {
 public:
  PcieLink() = default;
  PcieLink(const Card& card, bool keeps_open);

  void read(Fill& fill);         // what it runs at
  void read_limits(Fill& fill);  // what it could

 private:
  std::vector<SysfsFolder> way_;  // the card itself first
};

// 4 for "16.0 GT/s PCIe"; nothing for "Unknown".
std::optional<std::int64_t> pcie_generation(std::string_view speed);

}  // namespace vramscope::drm
