#include "devices/backends/drm/pcie_link.h"

#include <algorithm>
#include <utility>

namespace vramscope::drm {

namespace {

constexpr std::int64_t kMostLanes = 32;

std::optional<std::int64_t> generation_in(SysfsFolder& folder, const char* file) {
  const auto speed = folder.text(file);
  return speed ? pcie_generation(*speed) : std::nullopt;
}

std::optional<std::int64_t> width_in(SysfsFolder& folder, const char* file) {
  const auto lanes = folder.number(file);
  // 0 and 255 stand for a link that is down or not known.
  return lanes && *lanes > 0 && *lanes <= kMostLanes ? lanes : std::nullopt;
}

template <typename Read>
std::optional<std::int64_t> slowest(std::vector<SysfsFolder>& way, const char* file, Read read) {
  std::optional<std::int64_t> found;
  for (SysfsFolder& folder : way) {
    const auto value = read(folder, file);
    if (value) found = std::min(found.value_or(*value), *value);
  }
  return found;
}

}  // namespace

std::optional<std::int64_t> pcie_generation(std::string_view speed) {
  constexpr std::pair<std::string_view, std::int64_t> kSpeeds[] = {{"2.5", 1},  {"5", 2},  {"5.0", 2},  {"8", 3},
                                                                   {"8.0", 3},  {"16", 4}, {"16.0", 4}, {"32", 5},
                                                                   {"32.0", 5}, {"64", 6}, {"64.0", 6}};
  const std::string_view number = take_word(speed);
  for (const auto& [text, generation] : kSpeeds) {
    if (text == number) return generation;
  }
  return std::nullopt;
}

PcieLink::PcieLink(const Card& card, bool keeps_open) {
  if (card.pci_address.empty()) return;
  way_.emplace_back(card.folder, keeps_open);
  for (const std::string& port : card.ports) way_.emplace_back(port, keeps_open);
}

void PcieLink::read(Fill& fill) {
  if (fill.wants(Metric::pcie_link_gen_current)) {
    fill.set(Metric::pcie_link_gen_current, slowest(way_, "current_link_speed", generation_in));
  }
  if (fill.wants(Metric::pcie_link_gen_gpucurrent) && !way_.empty()) {
    fill.set(Metric::pcie_link_gen_gpucurrent, generation_in(way_.front(), "current_link_speed"));
  }
  if (fill.wants(Metric::pcie_link_width_current)) {
    fill.set(Metric::pcie_link_width_current, slowest(way_, "current_link_width", width_in));
  }
}

void PcieLink::read_limits(Fill& fill) {
  if (way_.empty()) return;
  if (fill.wants(Metric::pcie_link_gen_max)) {
    fill.set(Metric::pcie_link_gen_max, slowest(way_, "max_link_speed", generation_in));
  }
  if (fill.wants(Metric::pcie_link_gen_gpumax)) {
    fill.set(Metric::pcie_link_gen_gpumax, generation_in(way_.front(), "max_link_speed"));
  }
  if (fill.wants(Metric::pcie_link_gen_hostmax)) {
    fill.set(Metric::pcie_link_gen_hostmax, generation_in(way_.back(), "max_link_speed"));
  }
  if (fill.wants(Metric::pcie_link_width_max)) {
    fill.set(Metric::pcie_link_width_max, slowest(way_, "max_link_width", width_in));
  }
}

}  // namespace vramscope::drm
