#include "devices/backends/drm/kfd.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "system/fields.h"
#include "system/files.h"

namespace vramscope::drm {

namespace {

constexpr std::size_t kMostNodes = 128;

// location_id is bus << 8 | device << 3 | function.
std::string address_of(std::int64_t domain, std::int64_t location) {
  char text[40];
  std::snprintf(text, sizeof text, "%04llx:%02llx:%02llx.%llx", static_cast<unsigned long long>(domain),
                static_cast<unsigned long long>(location >> 8 & 0xFF),
                static_cast<unsigned long long>(location >> 3 & 0x1F), static_cast<unsigned long long>(location & 7));
  return text;
}

std::optional<std::int64_t> number_in(const std::string& path) {
  const auto text = read_file(path, 64);
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  return parse_int64(take_word(rest));
}

}  // namespace

Kfd::Kfd(const Roots& roots, const std::vector<Card>& cards) : processes_(roots.sys + "/class/kfd/kfd/proc") {
  const std::string nodes = roots.sys + "/class/kfd/kfd/topology/nodes/";
  for (std::size_t i = 0; i < kMostNodes; ++i) {
    const std::string node = nodes + std::to_string(i);
    const auto properties = read_file(node + "/properties");
    if (!properties) return;  // they are numbered without gaps
    const auto id = number_in(node + "/gpu_id");
    const auto location = find_number(*properties, "location_id ");
    if (!id || *id <= 0 || !location || *location < 0) continue;  // a CPU is a node too
    const std::string address = address_of(find_number(*properties, "domain ").value_or(0), *location);
    const auto card = std::find_if(cards.begin(), cards.end(), [&](const Card& c) { return c.pci_address == address; });
    if (card == cards.end()) continue;
    gpus_.push_back({static_cast<std::size_t>(card - cards.begin()), "vram_" + std::to_string(*id)});
  }
}

const std::vector<KfdUse>& Kfd::sample() {
  uses_.clear();
  if (gpus_.empty()) return uses_;
  const auto pids = read_numbered_entries(processes_);
  if (!pids) return uses_;
  for (const std::int32_t pid : *pids) {
    for (const Gpu& gpu : gpus_) {
      const auto bytes = number_in(processes_ + "/" + std::to_string(pid) + "/" + gpu.file);
      // A program of ROCm has every card open, and uses few of them.
      if (bytes && *bytes > 0) uses_.push_back({pid, gpu.card, *bytes});
    }
  }
  std::sort(uses_.begin(), uses_.end(), [](const KfdUse& a, const KfdUse& b) {
    return std::make_pair(a.card, a.pid) < std::make_pair(b.card, b.pid);
  });
  return uses_;
}

}  // namespace vramscope::drm
