#include "devices/backends/drm/cards.h"

#include <dirent.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include "system/fields.h"
#include "system/files.h"

namespace vramscope::drm {

namespace {

constexpr std::size_t kMostCards = 128;
constexpr std::size_t kMostPorts = 16;

// "nvidia": NVML has them. The partitions of an MI300 ("amdgpu_xcp…") are nodes of a card that is in the list itself.
// The rest draws without a GPU, or is the guest's side of one that only its host can look at.
constexpr std::array kPassedOver = {"nvidia", "nvidia-drm", "vgem",      "vkms", "virtio_gpu", "vmwgfx", "hyperv_drm",
                                    "qxl",    "cirrus",     "bochs-drm", "ast",  "mgag200",    "udl",    "evdi"};

bool is_passed_over(std::string_view driver) {
  if (driver.empty() || driver.starts_with("amdgpu_xcp") || driver.starts_with("simple")) return true;
  return std::find(kPassedOver.begin(), kPassedOver.end(), driver) != kPassedOver.end();
}

std::vector<std::string> entries_of(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const opened = ::opendir(folder.c_str());
  if (opened == nullptr) return names;
  while (const dirent* const entry = ::readdir(opened)) names.emplace_back(entry->d_name);
  ::closedir(opened);
  std::sort(names.begin(), names.end());
  return names;
}

// "card0"; not "card0-HDMI-A-1", which is a connector.
bool is_numbered(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) && parse_int64(name.substr(prefix.size())).value_or(-1) >= 0;
}

std::string real_path(const std::string& path) {
  char* const real = ::realpath(path.c_str(), nullptr);
  std::string found = real != nullptr ? real : "";
  ::free(real);
  return found;
}

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// "0000:03:00.0"; domains of more than four digits exist (Intel's VMD).
bool is_pci_address(std::string_view name) {
  const std::size_t bus = name.find(':');
  if (bus == name.npos || bus < 4 || name.size() != bus + 8 || name[bus + 3] != ':' || name[bus + 6] != '.') {
    return false;
  }
  return name.find_first_not_of("0123456789abcdef:.") == name.npos;
}

void find_ports(Card& card) {
  std::string_view path = card.folder;
  while (card.ports.size() < kMostPorts) {
    path = path.substr(0, path.rfind('/'));
    if (!is_pci_address(last_part(path))) return;
    card.ports.emplace_back(path);
  }
}

Card card_of(const std::string& entry) {
  Card card;
  card.folder = real_path(entry + "/device");
  if (card.folder.empty()) return card;
  card.driver = last_part(read_link_at(AT_FDCWD, (card.folder + "/driver").c_str()).value_or(""));
  if (is_pci_address(last_part(card.folder))) {
    card.pci_address = last_part(card.folder);
    find_ports(card);
  }
  for (const std::string& name : entries_of(card.folder + "/drm")) {
    if (is_numbered(name, "card") || is_numbered(name, "renderD")) card.nodes.push_back(name);
  }
  return card;
}

auto place_of(const Card& card) {
  // A longer domain is a higher one.
  return std::make_tuple(card.pci_address.empty(), card.pci_address.size(), std::string_view(card.pci_address),
                         std::string_view(card.folder));
}

}  // namespace

std::vector<Card> find_cards(const Roots& roots) {
  std::vector<Card> cards;
  const std::string folder = roots.sys + "/class/drm";
  for (const std::string& name : entries_of(folder)) {
    if (!is_numbered(name, "card") || cards.size() == kMostCards) continue;
    Card card = card_of(folder + "/" + name);
    if (card.folder.empty() || is_passed_over(card.driver)) continue;
    const bool is_known =
        std::any_of(cards.begin(), cards.end(), [&](const Card& c) { return c.folder == card.folder; });
    if (!is_known) cards.push_back(std::move(card));
  }
  std::sort(cards.begin(), cards.end(), [](const Card& a, const Card& b) { return place_of(a) < place_of(b); });
  return cards;
}

}  // namespace vramscope::drm
