#pragma once
// Names of PCI devices, from the list that hwdata or pciutils install (pci.ids; its format stands in its head). The
// list is read where it is, and comes with no build of ours.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::drm {

// "Navi 31 [Radeon RX 7900 XT/7900 XTX]" in the text of such a list.
std::optional<std::string> find_pci_name(std::string_view list, std::int64_t vendor, std::int64_t device);

// The name in the first list of these folders that has the device; "usr/share" or another root's.
std::optional<std::string> read_pci_name(const std::vector<std::string>& share_folders, std::int64_t vendor,
                                         std::int64_t device);

}  // namespace vramscope::drm
