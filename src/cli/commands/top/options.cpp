#include "cli/commands/top/options.h"

#include "text/utf8.h"

namespace vramscope {

Result<SamplerOptions> TopOptions::sampler_options() const {
  auto made = live.sampler_options();
  if (!made) return made;
  if (delay) made->interval_ns = static_cast<std::int64_t>(*delay) * 100'000'000;
  made->wanted.metrics |= mask_of({Metric::fan_speed, Metric::pcie_link_gen_current, Metric::pcie_link_width_current,
                                   Metric::temperature_slowdown});
  made->host_rest_ns = 1'000'000'000;  // shares of a core over less are noise
  if (pcie) made->wanted.metrics |= mask_of({Metric::pcie_throughput_tx, Metric::pcie_throughput_rx});
  return made;
}

std::string TopOptions::source() const {
  if (!live.replay.empty()) return printable(live.replay);
  return is_simulated() ? printable(live.device) : std::string();
}

void TopOptions::apply(tui::Setup& setup) const {
  if (no_plots) setup.show_plots = false;
  if (no_processes) setup.show_processes = false;
  if (newest_left) setup.newest_left = true;
  if (fahrenheit) setup.fahrenheit = true;
}

}  // namespace vramscope
