#pragma once
// What a recording holds, as the writer takes it and the reader gives it back.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "recording/format.h"

namespace vramscope::recording {

using SubjectId = std::uint32_t;  // from 1; an id means one subject for the whole recording
using SeriesId = std::uint32_t;   // from 1
using TextId = std::uint32_t;     // from 1; 0 is the empty text
using ThreadId = std::uint32_t;   // from 1
using StackId = std::uint32_t;    // from 1; 0 is no stack
inline constexpr std::uint32_t kNoId = 0;

// The numbers are the file's.
enum class SubjectKind : std::uint8_t { host = 1, device = 2, process = 3 };
enum class Validity : std::uint8_t {
  known = 0,
  not_supported = 1,
  no_permission = 2,
  failed = 3,
  lost = 4,
  missing = 5  // no value, for no reason that is told
};
enum class EventKind : std::uint8_t {
  process_start = 1,
  process_end = 2,  // code: the exit code, or minus the signal's number
  line = 3,         // a line that a watch printed
  alert = 4,        // code: severity
  alert_resolved = 5,
  exit_reason = 6  // why the watched program ended
};
enum class Clock : std::uint8_t { monotonic = 1, boottime = 2, realtime = 3, tsc = 4, device = 5 };

// A device or process. `key` tells it from all others: a GPU's UUID; boot id, pid and start ticks of a process.
struct Subject {
  SubjectKind kind = SubjectKind::host;
  std::string key;
  SubjectId parent = kNoId;
  std::vector<std::pair<std::string, std::string>> attributes;  // name, user, command, …
};

struct Sample {
  SeriesId series = kNoId;
  Validity validity = Validity::known;
  std::int64_t time_ns = 0;
  std::int64_t value = 0;  // 0 unless known
};

struct Event {
  std::int64_t time_ns = 0;
  EventKind kind = EventKind::line;
  SubjectId subject = kNoId;
  std::int64_t code = 0;
  std::string_view text;
};

// What `clock` showed at a moment of CLOCK_MONOTONIC.
struct ClockPoint {
  Clock clock = Clock::realtime;
  std::int64_t time_ns = 0;
  std::int64_t value = 0;
};

// What ran, and who told of it. The numbers are the file's.
enum class RecordedSpan : std::uint8_t {
  nvtx_range = 1,      // pushed and popped
  nvtx_start_end = 2,  // may end on another thread; the row is that of the thread that began it
  nvtx_mark = 3,       // without duration
  os_call = 4,
  cpu_op = 5,
  annotation = 6,
  python_call = 7,
  runtime_api = 8,
  driver_api = 9,
  kernel = 10,
  memcpy = 11,
  memset = 12,
  sync = 13,
  opencl_api = 14,
  overhead = 15
};
// Bits of column::kSpanFlags.
inline constexpr std::int64_t kSpanIsOpen = 1;  // it had not ended; its end is the moment until when it was seen

// How column::kSpanPayload is to be read.
enum class Payload : std::uint8_t { none = 0, unsigned_integer = 1, integer = 2, floating = 3 };

// Why events were not taken up.
enum class LossReason : std::uint8_t {
  pool_full = 1,
  reentered = 2,   // a signal came in the middle of a hook
  table_full = 3,  // of texts, ranges or threads
  damaged = 4      // the record cannot be
};

// Rows of a kind for traces, as columns: columns[id - 1]; an empty one is 0 in every row. Texts, threads, stacks and
// processes are ids of the recording.
struct TraceRows {
  static constexpr std::size_t kMostColumns = 16;
  ChunkKind kind = ChunkKind::spans;
  std::array<std::vector<std::int64_t>, kMostColumns> columns;

  std::vector<std::int64_t>& column(std::uint16_t id) { return columns[id - 1U]; }
  const std::vector<std::int64_t>& column(std::uint16_t id) const { return columns[id - 1U]; }
  // Of its first column, which every row has.
  std::size_t size() const { return columns[0].size(); }
  void clear() {
    for (auto& values : columns) values.clear();
  }
};

// No clock of a machine shows more; what does is damage. Leaves room for sums and differences.
inline bool is_plausible_time(std::int64_t time_ns) {
  return time_ns >= 0 && time_ns <= INT64_MAX / 4;
}

struct Totals {
  std::int64_t chunks = 0;  // before the `end` chunk
  std::int64_t samples = 0;
  std::int64_t events = 0;
  std::int64_t trace_rows = 0;  // spans, memory events, tallies, losses
  std::int64_t dropped = 0;     // rows that could not be written
  std::int64_t bytes = 0;       // before the `end` chunk
};

}  // namespace vramscope::recording
