#pragma once
// Which devices the kernel's DRM has. /sys/class/drm as in Documentation/gpu/drm-uapi.rst and
// drivers/gpu/drm/drm_sysfs.c of the kernel: cardN and renderDN are nodes, `device` links to the hardware.
#include <string>
#include <vector>

#include "system/roots.h"

namespace vramscope::drm {

struct Card {
  std::string pci_address;         // "0000:03:00.0", as drm-pdev has it; empty where it is no PCI device
  std::string driver;              // "amdgpu"
  std::string folder;              // of the hardware in sysfs, its real path
  std::vector<std::string> nodes;  // "card0", "renderD128": names in /dev/dri
  std::vector<std::string> ports;  // PCI devices between it and the machine, nearest first: their folders
};

// By PCI address, the others behind. Left out are NVIDIA's with its own driver, which NVML shows, and what has no
// hardware behind it or none that computes (screens alone, devices of virtual machines).
std::vector<Card> find_cards(const Roots& roots);

}  // namespace vramscope::drm
