#pragma once
// What a recording holds, as the writer takes it and the reader gives it back.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vramscope::recording {

using SubjectId = std::uint32_t;  // from 1; an id means one subject for the whole recording
using SeriesId = std::uint32_t;   // from 1
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

// No clock of a machine shows more; what does is damage. Leaves room for sums and differences.
inline bool is_plausible_time(std::int64_t time_ns) {
  return time_ns >= 0 && time_ns <= INT64_MAX / 4;
}

struct Totals {
  std::int64_t chunks = 0;  // before the `end` chunk
  std::int64_t samples = 0;
  std::int64_t events = 0;
  std::int64_t dropped = 0;  // rows that could not be written
  std::int64_t bytes = 0;    // before the `end` chunk
};

}  // namespace vramscope::recording
