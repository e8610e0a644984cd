#pragma once
// Alert rules tried on a scenario, a recording or the devices, and what would have been sent.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/alert_options.h"
#include "monitor/alert_state.h"
#include "sampling/sampler.h"

namespace vramscope {

struct RehearsedEvent {
  std::int64_t at_ns = 0;  // since the first sample
  AlertEvent event;
};

struct Rehearsal {
  std::int64_t played_ns = 0;
  std::int64_t samples = 0;
  bool is_played_back = false;
  std::vector<RehearsedEvent> events;
  std::vector<AlertReport> reports;  // of each rule
};

// Samples until `length_ns` of the devices' time is over, or the recording ends. `post`: called for each event.
Rehearsal rehearse(Sampler& sampler, const AlertPlan& plan, std::int64_t length_ns, const std::string& host,
                   const std::function<void(const AlertEvent&)>& post);
std::string rehearsal_text(const Rehearsal& rehearsal, const AlertPlan& plan);
// docs/schemas/alerts.schema.json
std::string rehearsal_json(const Rehearsal& rehearsal, const AlertPlan& plan);

}  // namespace vramscope
