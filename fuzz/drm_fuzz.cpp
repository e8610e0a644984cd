// Any bytes as what the kernel's DRM drivers write: fdinfo, lists of levels, the table of metrics, names of devices.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "devices/backends/drm/amdgpu.h"
#include "devices/backends/drm/client_work.h"
#include "devices/backends/drm/pci_ids.h"
#include "devices/backends/drm/pcie_link.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vramscope::drm;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // The halves are one client at two moments.
  ClientInfo before, now;
  parse_fdinfo(text.substr(0, size / 2), before);
  parse_fdinfo(text.substr(size / 2), now);
  CardUser user;
  add_memory(before, user);
  add_memory(now, user);
  if (user.local_bytes.value_or(0) < 0 || user.system_bytes.value_or(0) < 0) __builtin_trap();
  for (const std::int64_t elapsed_ns : {std::int64_t{0}, std::int64_t{1}, INT64_MAX}) {
    const Shares shares = work_since(before.engines, now.engines, elapsed_ns);
    for (const auto& percent : shares.percent) {
      if (percent && !(*percent >= 0 && *percent <= 100)) __builtin_trap();
    }
    add_shares(shares, user.shares);
  }
  keep_engines(before.engines, now.engines);
  parse_levels(text);
  parse_metrics_table(text);
  pcie_generation(text);
  find_pci_name(text, 0x1002, 0x744c);
  return 0;
}
