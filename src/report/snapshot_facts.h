#pragma once
// The facts about one device of a snapshot that its reports are made of, computed once.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/allocator_live.h"
#include "analysis/allocator_replay.h"
#include "analysis/device_filter.h"
#include "analysis/oom_cause.h"
#include "analysis/segment_use.h"
#include "analysis/snapshot_moment.h"
#include "model/source.h"

namespace vramscope {

// What of a snapshot's reports the command line chooses.
struct SnapshotChoice {
  std::optional<HeldBy> by;          // not set: by stack
  std::optional<SnapshotMoment> at;  // not set: the moment of the snapshot
};

// Words of --by: "stack", "frame", …; nullopt for another one. The name is the JSON's too.
std::optional<HeldBy> parse_held_by(std::string_view word);
const char* held_by_name(HeldBy by);

struct OomEntry {
  std::size_t entry = 0;  // index into the log
  OutOfMemory event;
  OomVerdict verdict;
};

struct SnapshotDevice {
  const AllocatorDevice* device = nullptr;
  Replay replay;
  SegmentUse use;
  Churn churn;
  std::vector<OomEntry> ooms;
  bool is_quiet() const { return device->segments.empty() && device->log.size() == 0; }
};

// Whether the filter wants a device of a snapshot; -1 is the host.
bool wants_device(const DeviceFilter& filter, std::int32_t index);
// The devices of source.memory_state that the filter wants, by index. `input` may tell a device's total memory.
std::vector<SnapshotDevice> measure_snapshot(const Source& source, const Case& input, const DeviceFilter& filter);

// Bytes of memory that the card has, where any file of the case tells.
std::optional<std::int64_t> device_total_bytes(const Case& input, std::int32_t index);

// Who holds the memory at one moment.
struct Holders {
  std::size_t count = 0;           // entries of the log that have happened
  bool is_snapshot = false;        // by the active blocks of the segments, not by the log
  std::int64_t bytes = 0;          // as asked for; a block whose request is unknown counts its rounded size
  std::int64_t rounded_bytes = 0;  // part of it that is known as a rounded size alone
  std::int64_t allocations = 0;
  std::vector<HeldGroup> groups;  // most bytes first
};

// nullopt when the device has no such moment.
std::optional<Holders> holders_at(const Source& source, const SnapshotDevice& facts, const SnapshotMoment& moment,
                                  HeldBy by);

}  // namespace vramscope
