#pragma once
// One input file and what was found in it; several of them are one Case.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/allocator_stats.h"
#include "model/category_timeline.h"
#include "model/device_log.h"
#include "model/memory_state.h"
#include "model/out_of_memory.h"
#include "model/trace.h"

namespace vramscope {

// Something odd that a reader met and survived. `name` is a fixed word with underscores, never translated.
struct Trouble {
  std::string name;
  std::int64_t count = 0;
  std::int64_t first_offset = 0;  // byte in the file, after decompression
};

struct DeviceInfo {
  std::int32_t id = -1;
  std::string name;
  std::optional<std::int64_t> total_memory_bytes;
  std::optional<std::int64_t> multiprocessors;
};

struct Environment {
  std::vector<DeviceInfo> devices;   // deviceProperties
  std::optional<std::int64_t> rank;  // distributedInfo
  std::optional<std::int64_t> world_size;
  std::string backend;  // "nccl", "gloo"; empty when not told
  std::string host_name;
  std::map<std::string, std::string>
      settings;  // other scalars of the file's head, as text: cupti_version, with_stack, …
};

struct CategoryCount {
  std::string name;  // as in the file; "(none)" for events that name no category
  std::int64_t events = 0;
};

struct Source {
  std::string path;
  std::string format;   // the reader's name: "kineto", …
  std::string version;  // of the format where the file tells ("schemaVersion 1"), else empty
  bool compressed = false;
  std::int64_t bytes = 0;   // text read, after decompression
  std::int64_t events = 0;  // as in the file, metadata apart
  std::int64_t metadata_events = 0;
  std::vector<CategoryCount> events_by_category;  // sorted by name
  std::optional<std::int64_t> start_ns;  // earliest and latest time of any event; epoch time where the file's clock is
  std::optional<std::int64_t> end_ns;
  Environment environment;
  std::vector<Trouble> trouble;
  Trace trace;
  std::optional<MemoryState> memory_state;      // a snapshot
  std::vector<OutOfMemory> out_of_memory;       // messages in a log; a snapshot's are entries of its own log
  std::vector<AllocatorStats> allocator_stats;  // in file order
  std::optional<CategoryTimeline> memory_timeline;
  std::optional<DeviceLog> device_log;  // of nvidia-smi and its imitators; memory_timeline is there too then
};

struct Case {
  std::vector<Source> sources;
};

}  // namespace vramscope
