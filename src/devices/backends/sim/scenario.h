#pragma once
// A scenario: devices that do not exist, and what they show over time. The form of the file: docs/scenarios.md.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "devices/backend.h"
#include "devices/backends/sim/curve.h"

namespace vramscope::sim {

struct SimProcess {
  std::int64_t pid = 0;
  ProcessType type = ProcessType::compute;
  bool is_mps = false;
  HostFacts host;
  std::optional<Curve> used, sm, memory, encoder, decoder;
  std::optional<Curve> allocator_reserved, allocator_allocated, allocator_active;  // bytes
  std::optional<std::int64_t> gpu_instance, compute_instance;
  std::int64_t from_ns = 0;
  std::optional<std::int64_t> until_ns;
};

struct SimMig {
  std::int64_t gpu_instance = 0, compute_instance = 0;
  std::string name;
  std::int64_t total_bytes = 0;
};

struct SimGpu {
  int index = 0;
  std::vector<std::pair<Metric, Curve>> curves;
  std::vector<std::pair<Metric, std::string>> texts;
  std::optional<Curve> other_used;  // memory that no process accounts for
  std::optional<std::int64_t> lost_ns;
  std::vector<SimMig> migs;
  std::vector<SimProcess> processes;
};

struct Scenario {
  std::string title;
  std::vector<SimGpu> gpus;
};

// `origin` names the text in sentences.
Result<Scenario> parse_scenario(std::string_view text, std::string_view origin);

// The scenarios that come along: their names, and the text of one; nullptr for a name that there is not.
std::vector<std::string_view> built_in_names();
const char* built_in(std::string_view name);

}  // namespace vramscope::sim
