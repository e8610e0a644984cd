#pragma once
// Reports about logs (memory_summary() tables, memory_stats() dictionaries, out-of-memory messages) and about exported
// memory timelines.
#include <cstdint>
#include <string>
#include <vector>

#include "report/json.h"
#include "report/memory.h"

namespace vramscope {

// The samples of one device, in file order.
struct StatsSeries {
  std::int32_t device = 0;
  std::vector<const AllocatorStats*> samples;
};
std::vector<StatsSeries> stats_series(const Source& source, const DeviceFilter& filter);

// The allocator settings that any snapshot of the case names; empty where none does.
std::map<std::string, std::string> settings_of(const Case& input);

std::string log_text(const Source& source, const Case& input, const MemoryOptions& options);
// The members of a log's object behind "path".
void write_log(JsonWriter& json, const Source& source, const Case& input, const MemoryOptions& options);

std::string timeline_text(const Source& source);
// The members of a timeline's object behind "path".
void write_timeline(JsonWriter& json, const Source& source, const MemoryOptions& options);

}  // namespace vramscope
