#include "analysis/copies.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "analysis/memory_sums.h"
#include "analysis/ranges.h"

namespace vramscope {

namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_api(SpanKind kind) {
  return kind == SpanKind::runtime_api || kind == SpanKind::driver_api;
}

// The next range on the thread with the same parent, when it is a wait; kNone otherwise.
SpanIndex wait_behind(const Trace& trace, SpanIndex call) {
  const Track& track = trace.tracks[trace.spans.track[call]];
  const std::int64_t end = trace.end_ns(call);
  auto at = std::lower_bound(trace.spans_by_time.begin() + track.begin, trace.spans_by_time.begin() + track.end, end,
                             [&](SpanIndex i, std::int64_t time) { return trace.spans.start_ns[i] < time; });
  for (; at != trace.spans_by_time.begin() + track.end; ++at) {
    if (*at == call || !is_host_range(trace.kind(*at))) continue;
    const bool waits = is_api(trace.kind(*at)) && contains(trace.name(*at), "Synchronize");
    return waits && trace.spans.parent[*at] == trace.spans.parent[call] ? *at : kNone;
  }
  return kNone;
}

bool call_waits(std::string_view name) {
  return name == "cudaMemcpy" || name == "hipMemcpy" || name == "hipMemcpyWithStream" || name == "cuMemcpyHtoD_v2" ||
         name == "cuMemcpyDtoH_v2";
}

// Reading one number (item()) needs its value at once: no other kind of copy would help.
bool reads_a_number(const Trace& trace, SpanIndex call) {
  return enclosing_named(trace, call, "aten::_local_scalar_dense") != kNone;
}

struct Blocking {
  CopyKind kind = CopyKind::to_host;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

// What the thread waited for, or nothing when the copy ran beside it.
std::optional<Blocking> blocking(const Trace& trace, SpanIndex copy, SpanIndex call) {
  const std::string_view name = trace.name(copy);
  if (reads_a_number(trace, call)) return std::nullopt;
  const SpanIndex wait = wait_behind(trace, call);
  const bool pageable = contains(name, "Pageable");
  if (wait == kNone && !pageable && !call_waits(trace.name(call))) return std::nullopt;
  Blocking found;
  found.begin_ns = trace.spans.start_ns[call];
  found.end_ns = wait == kNone ? trace.end_ns(call) : trace.end_ns(wait);
  if (contains(name, "HtoD")) found.kind = pageable ? CopyKind::to_device_pageable : CopyKind::to_device_pinned;
  // Where the file does not say what kind of host memory it was, pinning is the first thing to look at.
  if (contains(name, "HtoD") && !pageable && !contains(name, "Pinned")) found.kind = CopyKind::to_device_pageable;
  return found;
}

std::int64_t host_span_ns(const Trace& trace) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (SpanIndex i = 0; i < trace.spans.size(); ++i) {
    if (!is_host_range(trace.kind(i))) continue;
    first = std::min(first, trace.spans.start_ns[i]);
    last = std::max(last, trace.end_ns(i));
  }
  return length_ns(first, last);
}

double median_share(const StepRanges& steps, const std::vector<std::int64_t>& lost) {
  std::vector<double> shares;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const std::int64_t length = length_ns(steps.ranges[s].begin_ns, steps.ranges[s].end_ns);
    shares.push_back(length > 0 ? static_cast<double>(lost[s]) / static_cast<double>(length) : 0.0);
  }
  return median(std::move(shares));
}

}  // namespace

CopyUse copy_use(const Trace& trace, const StepRanges& steps) {
  CopyUse use;
  std::vector<SpanIndex> copies;
  absl::flat_hash_map<std::int64_t, SpanIndex> calls;
  for (SpanIndex i = 0; i < trace.spans.size(); ++i) {
    const SpanKind kind = trace.kind(i);
    if (kind == SpanKind::memcpy && (contains(trace.name(i), "HtoD") || contains(trace.name(i), "DtoH"))) {
      copies.push_back(i);
    } else if (is_api(kind) && trace.spans.id[i] != kUnknown) {
      calls.try_emplace(trace.spans.id[i], i);
    }
  }
  use.host_copies = static_cast<std::int64_t>(copies.size());
  if (copies.empty()) return use;
  use.by_steps = steps.size() > 0;
  use.span_ns = use.by_steps ? steps.total_ns() : host_span_ns(trace);
  const std::vector<TimeRange> kernels = device_busy(trace, false);
  std::vector<std::int64_t> lost[kCopyKinds];  // per step
  for (std::vector<std::int64_t>& per_step : lost) per_step.assign(steps.size(), 0);
  for (const SpanIndex copy : copies) {
    const auto call = trace.spans.id[copy] == kUnknown ? calls.end() : calls.find(trace.spans.id[copy]);
    if (call == calls.end()) continue;
    ++use.joined;
    const std::uint32_t step = steps.index_at(trace.spans.start_ns[call->second]);
    if (use.by_steps && step == kNone) continue;
    const std::optional<Blocking> found = blocking(trace, copy, call->second);
    if (!found) continue;
    const auto kind = static_cast<std::size_t>(found->kind);
    CopyGroup& group = use.groups[kind];
    const std::int64_t blocked = length_ns(found->begin_ns, found->end_ns);
    ++group.copies;
    const DeviceArgs* args = trace.device_args_of(copy);
    if (args != nullptr && args->bytes > 0) group.bytes = add_bytes(group.bytes, args->bytes);
    group.blocked_ns = add_bytes(group.blocked_ns, blocked);
    const std::int64_t idle = blocked - covered_ns(kernels, found->begin_ns, found->end_ns);
    group.lost_ns = add_bytes(group.lost_ns, idle);
    if (step != kNone) lost[kind][step] = add_bytes(lost[kind][step], idle);
    if (blocked >= group.longest_ns) {
      group.longest_ns = blocked;
      group.longest = call->second;
    }
  }
  for (std::size_t kind = 0; kind < kCopyKinds; ++kind) {
    use.groups[kind].median_share = median_share(steps, lost[kind]);
  }
  return use;
}

}  // namespace vramscope
