#pragma once
// The report of `vramscope memory`: memory over time, its peak, what was live, growth step by step.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/device_filter.h"
#include "analysis/memory_curve.h"
#include "analysis/memory_live.h"
#include "analysis/memory_moment.h"
#include "model/source.h"
#include "report/snapshot_facts.h"

namespace vramscope {

struct MemoryOptions {
  std::optional<LiveBy> by;        // group what is live by this; not set: by operator and place
  std::optional<Moment> at;        // what is live at this moment; not set: at the peak
  std::string at_text = "peak";    // as the user wrote it
  std::optional<std::size_t> top;  // rows of what is live; not set: 10 in text, all in JSON
  std::size_t points = 1000;       // of each curve in JSON
  DeviceFilter device;
  SnapshotChoice snapshot;  // of sources that are snapshots, `by` and `at` are of traces
  bool is_list = false;     // several files were given: JSON has "sources" even for one that could be read
};

// The facts of one source, computed once.
struct SourceMemory {
  MemoryPairs pairs;
  std::vector<DeviceMemory> devices;  // those that the filter wants
};
SourceMemory measure_memory(const Source& source, const DeviceFilter& filter);

// For people: as wide as terminal().columns, ASCII where terminal().utf8 is false.
std::string memory_text(const Case& input, const MemoryOptions& options);
// For machines (docs/schemas/memory.schema.json): {"devices": […]} for one source, {"sources": [{"devices"}…]} for
// several. end_bytes is the level of the curve after the last event.
std::string memory_json(const Case& input, const MemoryOptions& options);

}  // namespace vramscope
