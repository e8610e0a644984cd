#pragma once
// Which report fits a source.
#include "model/source.h"

namespace vramscope {

enum class SourceKind { trace, snapshot, log, timeline };

// A recording and a log of devices have a timeline too.
inline SourceKind kind_of(const Source& source) {
  if (source.memory_state) return SourceKind::snapshot;
  if (source.memory_timeline) return SourceKind::timeline;
  if (!source.allocator_stats.empty() || !source.out_of_memory.empty()) return SourceKind::log;
  return SourceKind::trace;
}

// What `vramscope watch --record` keeps; it has a timeline too.
inline bool is_recording_of_devices(const Source& source) {
  return source.format == "recording";
}

// What nvidia-smi or an imitation of it printed.
inline bool is_log_of_devices(const Source& source) {
  return source.device_log.has_value() && !is_recording_of_devices(source);
}

}  // namespace vramscope
