#pragma once
// What grew from one snapshot to the next, by stack.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/json.h"
#include "report/memory.h"

namespace vramscope {

// Snapshots of one case in the order of their logs' ends, or as given where one of them tells no time.
struct SnapshotOrder {
  std::vector<const Source*> sources;
  bool is_by_time = false;
};
SnapshotOrder order_snapshots(const Case& input);

// One stack in all snapshots of a device. Stacks are the same when their frames' text is.
struct StackSeries {
  const Source* source = nullptr;  // that `stack` is of: the last that has it
  StackId stack = 0;
  std::vector<std::int64_t> bytes;   // as asked for, one a snapshot
  std::vector<std::int64_t> counts;  // allocations
  std::int64_t grown_bytes() const;  // last less first
  bool is_rising() const;            // never falls, and ends higher than it began
};

struct DeviceSeries {
  std::int32_t device = -1;
  std::vector<std::int64_t> bytes;  // live in all, one a snapshot
  std::vector<StackSeries> stacks;  // those that grew, most first
};
// Devices that two or more of the snapshots hold.
std::vector<DeviceSeries> snapshot_series(const SnapshotOrder& order, const DeviceFilter& filter);

std::string growth_text(const SnapshotOrder& order, const MemoryOptions& options);
// An array.
void write_growth(JsonWriter& json, const SnapshotOrder& order, const MemoryOptions& options);

}  // namespace vramscope
