#pragma once
// What every verb that looks at devices shares: --device, --replay, --speed, --interval.
#include <cstdint>
#include <string>

#include "CLI/CLI.hpp"
#include "sampling/sampler.h"

namespace vramscope {

// Bound to the parser; must outlive parsing.
struct LiveOptions {
  std::string device;
  std::string replay;
  std::string speed;  // "10", "max"
  std::string interval;

  // A wrong value ends in a usage Error.
  Result<SamplerOptions> sampler_options() const;
};

void add_live_options(CLI::App& app, LiveOptions& options);
// --device and --speed alone.
void add_device_option(CLI::App& app, LiveOptions& options);
void add_speed_option(CLI::App& app, LiveOptions& options);

// "500ms", "30s", "5m", "2h", "1d"; a plain number is seconds. Empty when it is none, or not above 0.
std::optional<std::int64_t> parse_duration_ns(std::string_view text);
// The refusal of a word that is no duration.
Error duration_error(std::string_view option, std::string_view word);

// Waits until the sampler's next sample is due.
void wait_until_due(const Sampler& sampler);

}  // namespace vramscope
