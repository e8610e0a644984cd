#include "analysis/snapshot_moment.h"

#include <charconv>

#include "analysis/memory_moment.h"
#include "base/saturate.h"

namespace vramscope {

namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

std::optional<SnapshotMoment> numbered(std::string_view text, SnapshotMomentKind kind, std::int64_t least) {
  const std::optional<std::int64_t> number = whole_number(text);
  if (!number || *number < least) return std::nullopt;
  return SnapshotMoment{kind, *number};
}

std::optional<std::size_t> find_oom(const AllocatorLog& log, std::int64_t which) {
  std::optional<std::size_t> last;
  std::int64_t seen = 0;
  for (std::size_t i = 0; i < log.size(); ++i) {
    if (log.action[i] != AllocatorAction::oom) continue;
    last = i;
    if (++seen == which) return i;
  }
  return which == 0 ? last : std::nullopt;
}

// The first time and the last one that the log writes; kUnknown where it writes none.
struct LogSpan {
  std::int64_t first_ns = kUnknown;
  std::int64_t last_ns = kUnknown;
};

LogSpan span_of(const AllocatorLog& log) {
  LogSpan span;
  for (std::size_t i = 0; i < log.size(); ++i) {
    if (log.time_ns[i] == kUnknown) continue;
    if (span.first_ns == kUnknown) span.first_ns = log.time_ns[i];
    span.last_ns = log.time_ns[i];
  }
  return span;
}

std::optional<std::size_t> find_time(const AllocatorLog& log, std::int64_t value, bool is_since_start) {
  const LogSpan span = span_of(log);
  if (span.first_ns == kUnknown) return std::nullopt;
  const std::int64_t time_ns = is_since_start ? saturating_add(span.first_ns, value) : value;
  if (time_ns < span.first_ns || time_ns > span.last_ns) return std::nullopt;
  return entries_until(log, time_ns);
}

}  // namespace

std::optional<SnapshotMoment> parse_snapshot_moment(std::string_view text) {
  if (text == "snapshot") return SnapshotMoment{};
  if (text == "oom") return SnapshotMoment{SnapshotMomentKind::oom, 0};
  constexpr std::string_view kOom = "oom:";
  constexpr std::string_view kEntry = "entry:";
  if (text.substr(0, kOom.size()) == kOom) return numbered(text.substr(kOom.size()), SnapshotMomentKind::oom, 1);
  if (text.substr(0, kEntry.size()) == kEntry) {
    return numbered(text.substr(kEntry.size()), SnapshotMomentKind::entry, 0);
  }
  const std::optional<Moment> moment = parse_moment(text);
  if (!moment) return std::nullopt;
  switch (moment->kind) {
    case MomentKind::peak:
      return SnapshotMoment{SnapshotMomentKind::peak, 0};
    case MomentKind::end:
      return SnapshotMoment{SnapshotMomentKind::end, 0};
    case MomentKind::since_start:
      return SnapshotMoment{SnapshotMomentKind::since_start, moment->value};
    case MomentKind::clock:
      return SnapshotMoment{SnapshotMomentKind::clock, moment->value};
    case MomentKind::step:
      break;
  }
  return std::nullopt;
}

std::optional<std::size_t> find_snapshot_moment(const AllocatorDevice& device, const Replay& replay,
                                                const SnapshotMoment& moment) {
  const std::size_t entries = device.log.size();
  switch (moment.kind) {
    case SnapshotMomentKind::snapshot:
    case SnapshotMomentKind::end:
      return entries;
    case SnapshotMomentKind::peak:
      return replay.peak_count;
    case SnapshotMomentKind::oom:
      return find_oom(device.log, moment.value);
    case SnapshotMomentKind::entry:
      if (moment.value > static_cast<std::int64_t>(entries)) return std::nullopt;
      return static_cast<std::size_t>(moment.value);
    case SnapshotMomentKind::since_start:
    case SnapshotMomentKind::clock:
      return find_time(device.log, moment.value, moment.kind == SnapshotMomentKind::since_start);
  }
  return std::nullopt;
}

bool has_snapshot_moment(const AllocatorDevice& device, const SnapshotMoment& moment) {
  return find_snapshot_moment(device, Replay{}, moment).has_value();
}

}  // namespace vramscope
