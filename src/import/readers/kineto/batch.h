#pragma once
// What one parsing thread makes of one window of text: rows with ids of the thread's own string table.
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "model/trace_builder.h"

namespace vramscope::kineto {

// Spans, marks and so on carry thread-local ids in `name`, `track`, `stack`, `category`, OpArgs strings;
// `args` is an index into op_args or device_args below. MergeTables turns them into the builder's.
struct Batch {
  std::vector<SpanRow> spans;
  std::vector<OpArgs> op_args;
  std::vector<DeviceArgs> device_args;
  std::vector<MemoryRow> memory;
  std::vector<MarkRow> marks;
  std::vector<FlowRow> flows;
  std::vector<Instant> instants;
  struct Counter {
    std::int64_t time_ns;
    double value;
    StringId name;
    StringId key;
    TrackId track;
  };
  std::vector<Counter> counters;
  struct Name {
    StringId pid;
    StringId tid;  // 0: names the process
    StringId name;
  };
  std::vector<Name> names;

  // New entries of the thread's tables, in the order of their ids.
  std::vector<std::string_view> new_strings;
  std::vector<std::pair<StringId, StringId>> new_tracks;  // pid, tid
  std::vector<StringId> new_categories;                   // 0: events that name none
  std::vector<std::int64_t> events_by_category;           // by thread-local category

  std::vector<Trouble> trouble;
  std::int64_t events = 0;
  std::int64_t metadata_events = 0;
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();

  void note(std::string_view name, std::int64_t offset);
  void clear();
};

}  // namespace vramscope::kineto
