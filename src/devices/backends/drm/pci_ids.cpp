#include "devices/backends/drm/pci_ids.h"

#include <cstdio>

#include "system/fields.h"
#include "system/files.h"

namespace vramscope::drm {

namespace {

constexpr std::size_t kMostListBytes = 16 << 20;
constexpr std::size_t kLongestName = 120;

}  // namespace

std::optional<std::string> find_pci_name(std::string_view list, std::int64_t vendor, std::int64_t device) {
  if (vendor < 0 || vendor > 0xFFFF || device < 0 || device > 0xFFFF) return std::nullopt;
  char vendor_id[8], device_id[8];
  std::snprintf(vendor_id, sizeof vendor_id, "%04x ", static_cast<unsigned>(vendor));
  std::snprintf(device_id, sizeof device_id, "\t%04x ", static_cast<unsigned>(device));
  bool is_vendor = false;
  while (!list.empty()) {
    std::string_view line = take_until(list, '\n');
    if (line.empty() || line[0] == '#') continue;
    if (line[0] != '\t') {
      if (is_vendor) return std::nullopt;  // its devices are over
      is_vendor = line.starts_with(vendor_id);
      continue;
    }
    if (!is_vendor || !line.starts_with(device_id)) continue;
    const std::size_t begin = line.find_first_not_of(' ', 5);
    if (begin == line.npos) return std::nullopt;
    while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
    return std::string(line.substr(begin, kLongestName));
  }
  return std::nullopt;
}

std::optional<std::string> read_pci_name(const std::vector<std::string>& share_folders, std::int64_t vendor,
                                         std::int64_t device) {
  for (const std::string& folder : share_folders) {
    for (const char* const file : {"/hwdata/pci.ids", "/misc/pci.ids"}) {
      const auto list = read_file(folder + file, kMostListBytes);
      if (!list) continue;
      if (auto name = find_pci_name(*list, vendor, device)) return name;
    }
  }
  return std::nullopt;
}

}  // namespace vramscope::drm
