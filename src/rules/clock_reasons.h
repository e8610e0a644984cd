#pragma once
// Why the clocks of a GPU are held down, the worst first. One table for live verdicts and for rules.
#include <cstdint>

#include "model/finding.h"

namespace vramscope {

struct ClockReason {
  std::int64_t bits;  // of Metric::clocks_event_reasons_active
  Severity severity;
  const char* title;  // with {gpu}
  const char* summary;
  const char* fix;            // with {gpu}
  const char* fix_elsewhere;  // where NVIDIA's tools do not reach
};

struct ClockReasons {
  const ClockReason* first;
  const ClockReason* last;
  const ClockReason* begin() const { return first; }
  const ClockReason* end() const { return last; }
};
ClockReasons clock_reasons();

}  // namespace vramscope
