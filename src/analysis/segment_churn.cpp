#include "analysis/segment_churn.h"

#include <algorithm>
#include <string_view>

#include "analysis/memory_sums.h"

namespace vramscope {

namespace {

bool takes(AllocatorAction action) {
  return action == AllocatorAction::segment_alloc || action == AllocatorAction::segment_map;
}
bool gives_back(AllocatorAction action) {
  return action == AllocatorAction::segment_free || action == AllocatorAction::segment_unmap;
}

bool has_frame(const Source& source, StackId stack, std::string_view name) {
  const std::vector<Stacks::Node>& nodes = source.trace.stacks.nodes;
  while (stack != 0 && stack < nodes.size()) {
    const std::string_view frame = source.trace.strings.view(nodes[stack].frame);
    if (frame.find(name) != std::string_view::npos) return true;
    stack = nodes[stack].parent;
  }
  return false;
}

ReleaseCause cause_of(const Source& source, const AllocatorLog& log, const ReleaseRound& round) {
  if (has_frame(source, round.stack, "empty_cache") || has_frame(source, round.stack, "emptyCache")) {
    return ReleaseCause::empty_cache;
  }
  const std::size_t next = round.last + 1;
  if (next < log.size() && (takes(log.action[next]) || log.action[next] == AllocatorAction::oom)) {
    return ReleaseCause::retry;
  }
  return ReleaseCause::unknown;
}

// kUnknown where either has no time.
std::int64_t time_between(const AllocatorLog& log, std::size_t first, std::size_t last) {
  if (log.time_ns[first] == kUnknown || log.time_ns[last] == kUnknown) return kUnknown;
  return std::max<std::int64_t>(0, subtract_bytes(log.time_ns[last], log.time_ns[first]));
}

}  // namespace

SegmentRounds segment_rounds(const Source& source, const AllocatorDevice& device) {
  const AllocatorLog& log = device.log;
  SegmentRounds found;
  for (std::size_t i = 0; i < log.size(); ++i) {
    if (takes(log.action[i]) && !found.rounds.empty()) {
      found.rounds.back().taken_bytes = add_bytes(found.rounds.back().taken_bytes, log.bytes[i]);
    }
    if (!gives_back(log.action[i])) continue;
    if (i == 0 || !gives_back(log.action[i - 1])) found.rounds.push_back({i, i, 0, 0, 0, log.stack[i], {}});
    ReleaseRound& round = found.rounds.back();
    round.last = i;
    ++round.segments;
    round.freed_bytes = add_bytes(round.freed_bytes, log.bytes[i]);
  }
  if (log.size() > 0) found.log_ns = time_between(log, 0, log.size() - 1);
  for (ReleaseRound& round : found.rounds) {
    round.cause = cause_of(source, log, round);
    if (round.freed_bytes <= 0 || round.taken_bytes < round.freed_bytes / 2) continue;
    ++found.repeated;
    found.repeated_bytes = add_bytes(found.repeated_bytes, std::min(round.freed_bytes, round.taken_bytes));
    const std::int64_t spent = round.segments < 2 ? kUnknown : time_between(log, round.first, round.last);
    if (spent != kUnknown) found.time_ns = add_bytes(found.time_ns == kUnknown ? 0 : found.time_ns, spent);
  }
  return found;
}

}  // namespace vramscope
