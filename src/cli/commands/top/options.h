#pragma once
// What the command line of `vramscope top` gives.
#include <cstddef>
#include <optional>
#include <string>

#include "cli/alert_options.h"
#include "cli/live.h"
#include "tui/setup.h"

namespace vramscope {

struct TopOptions {
  LiveOptions live;
  std::optional<std::size_t> delay;  // tenths of seconds, as nvtop has it
  AlertOptions alerts;
  std::string look;
  std::string filter;
  std::string setup_path;  // empty: the usual place
  std::optional<std::size_t> height;
  bool once = false;
  bool snapshot = false;
  bool loop = false;
  bool no_colour = false;
  bool no_plots = false;
  bool no_processes = false;
  bool newest_left = false;
  bool fahrenheit = false;
  bool pcie = false;

  Result<SamplerOptions> sampler_options() const;
  bool is_simulated() const { return live.replay.empty() && live.device.substr(0, 3) == "sim"; }
  // What is played back, for the screen; empty for the devices of this machine.
  std::string source() const;
  // The flags over what the file says.
  void apply(tui::Setup& setup) const;
};

}  // namespace vramscope
