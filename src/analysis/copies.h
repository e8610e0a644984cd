#pragma once
// Copies between host and device for which the calling thread waits.
#include <cstdint>
#include <vector>

#include "analysis/step_ranges.h"
#include "model/trace.h"

namespace vramscope {

enum class CopyKind : std::uint8_t {
  to_device_pageable,  // the driver stages it through its own buffer while the thread waits
  to_device_pinned,    // could run beside the thread, but the thread waits for it
  to_host,             // the thread waits for the result
};
inline constexpr std::size_t kCopyKinds = 3;

struct CopyGroup {
  std::int64_t copies = 0;
  std::int64_t bytes = 0;
  std::int64_t blocked_ns = 0;  // the thread was in the copy call and the wait behind it
  std::int64_t lost_ns = 0;     // of it, while no kernel ran on any device
  SpanIndex longest = kNone;    // the copy that blocked longest: its API call
  std::int64_t longest_ns = 0;
  double median_share = 0;  // lost_ns of a step's time, the median of all steps: one slow copy does not move it
};

struct CopyUse {
  std::int64_t host_copies = 0;  // copies between host and device in the recording
  std::int64_t joined = 0;       // of them, those whose API call was recorded
  std::int64_t span_ns = 0;      // all steps, or the whole recording of host work where no step is known
  bool by_steps = false;
  CopyGroup groups[kCopyKinds];
};

CopyUse copy_use(const Trace& trace, const StepRanges& steps);

}  // namespace vramscope
