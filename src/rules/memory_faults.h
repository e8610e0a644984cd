#pragma once
// Signs that the memory of a GPU is faulty, the worst first. One table for live verdicts and for rules.
#include "model/finding.h"
#include "model/metric.h"

namespace vramscope {

struct MemoryFault {
  Metric metric;  // above 0 where there is a fault
  Severity severity;
  const char* title;          // with {gpu}
  const char* fix;            // with {gpu}
  const char* fix_elsewhere;  // where NVIDIA's tools do not reach
};

struct MemoryFaults {
  const MemoryFault* first;
  const MemoryFault* last;
  const MemoryFault* begin() const { return first; }
  const MemoryFault* end() const { return last; }
};
MemoryFaults memory_faults();

}  // namespace vramscope
