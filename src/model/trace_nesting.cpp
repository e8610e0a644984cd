// The part of TraceBuilder that works on order: sorting, nesting, and joining what time joins.
#include <algorithm>
#include <limits>

#include "base/parallel.h"
#include "model/trace_builder.h"

namespace vramscope {

namespace {

struct ByTime {
  const Spans& spans;
  bool operator()(SpanIndex a, SpanIndex b) const {
    if (spans.start_ns[a] != spans.start_ns[b]) return spans.start_ns[a] < spans.start_ns[b];
    if (spans.duration_ns[a] != spans.duration_ns[b]) return spans.duration_ns[a] > spans.duration_ns[b];
    // Exporters with whole microseconds give a call and its callee the same interval: ids are handed out in
    // the order of calls.
    if (spans.id[a] != spans.id[b]) return spans.id[a] < spans.id[b];
    return a < b;
  }
};

// Real files are a few sorted runs behind each other (operators, then Python frames, …): merging them is
// nearly linear. Many short runs go to std::sort.
void sort_by_time(SpanIndex* begin, SpanIndex* end, const ByTime& less) {
  if (begin == end) return;
  std::vector<SpanIndex*> runs = {begin};
  constexpr std::size_t kMostRuns = 64;
  for (SpanIndex* i = begin; i + 1 < end && runs.size() <= kMostRuns; ++i) {
    if (less(i[1], i[0])) runs.push_back(i + 1);
  }
  if (runs.size() > kMostRuns) {
    std::sort(begin, end, less);
    return;
  }
  runs.push_back(end);
  while (runs.size() > 2) {
    std::vector<SpanIndex*> merged = {begin};
    for (std::size_t i = 0; i + 1 < runs.size(); i += 2) {
      if (i + 2 < runs.size()) std::inplace_merge(runs[i], runs[i + 1], runs[i + 2], less);
      merged.push_back(runs[std::min(i + 2, runs.size() - 1)]);
    }
    runs = std::move(merged);
  }
}

enum NestTrouble : std::size_t { kOverlapCount, kOverlapOffset, kNestTroubles };

// The spans of one kind family that are open at a moment, outermost first.
class OpenSpans {
 public:
  void close_until(std::int64_t time_ns) {
    while (!open_.empty() && open_.back().end_ns <= time_ns) open_.pop_back();
  }
  SpanIndex innermost() const { return open_.empty() ? kNone : open_.back().span; }
  std::int64_t innermost_end() const {
    return open_.empty() ? std::numeric_limits<std::int64_t>::max() : open_.back().end_ns;
  }
  void open(SpanIndex span, std::int64_t end_ns) { open_.push_back({span, end_ns}); }

 private:
  struct Entry {
    SpanIndex span;
    std::int64_t end_ns;
  };
  std::vector<Entry> open_;
};

}  // namespace

void TraceBuilder::order_tracks() {
  Spans& spans = trace_.spans;
  const std::size_t count = spans.size();
  std::vector<std::uint32_t> begin(trace_.tracks.size() + 1, 0);
  for (const TrackId track : spans.track) ++begin[track + 1];
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  trace_.spans_by_time.resize(count);
  std::vector<std::uint32_t> next = begin;
  for (std::size_t i = 0; i < count; ++i) trace_.spans_by_time[next[spans.track[i]]++] = static_cast<SpanIndex>(i);
  spans.parent.resize(count, kNone);
  spans.enclosing_frame.resize(count, kNone);

  std::vector<std::vector<std::int64_t>> trouble(trace_.tracks.size());
  std::vector<TrackId> largest_first;
  for (TrackId id = 0; id < trace_.tracks.size(); ++id) {
    trace_.tracks[id].begin = begin[id];
    trace_.tracks[id].end = begin[id + 1];
    largest_first.push_back(id);
  }
  std::stable_sort(largest_first.begin(), largest_first.end(),
                   [&](TrackId a, TrackId b) { return begin[a + 1] - begin[a] > begin[b + 1] - begin[b]; });
  parallel_for(
      largest_first.size(),
      [&](std::size_t i) {
        const TrackId id = largest_first[i];
        SpanIndex* const order = trace_.spans_by_time.data();
        sort_by_time(order + begin[id], order + begin[id + 1], ByTime{spans});
        nest_track(id, trouble[id]);
      },
      worker_count_for(count + trace_.memory.size()));
  for (const std::vector<std::int64_t>& found : trouble) {
    if (found[kOverlapCount] > 0) note("overlapping_siblings", found[kOverlapOffset], found[kOverlapCount]);
  }
  memory_by_track_.clear();
  span_offsets_.clear();
}

// A range is the child of the innermost one that is open when it starts, as in PyTorch's own event tree;
// one that then outlives its parent is counted. An allocation belongs to the innermost range with
// start <= time < end.
void TraceBuilder::nest_track(TrackId id, std::vector<std::int64_t>& trouble) {
  trouble.assign(kNestTroubles, 0);
  Spans& spans = trace_.spans;
  MemoryEvents& memory = trace_.memory;
  OpenSpans ranges;
  OpenSpans frames;
  std::uint32_t next_memory = memory_begin_[id];
  const std::uint32_t end_memory = memory_begin_[id + 1];
  const auto attach_memory_before = [&](std::int64_t time_ns) {
    for (; next_memory < end_memory; ++next_memory) {
      const std::uint32_t event = memory_by_track_[next_memory];
      if (memory.time_ns[event] >= time_ns) return;
      ranges.close_until(memory.time_ns[event]);
      frames.close_until(memory.time_ns[event]);
      memory.span[event] = ranges.innermost();
      memory.frame[event] = frames.innermost();
    }
  };
  for (std::uint32_t at = trace_.tracks[id].begin; at < trace_.tracks[id].end; ++at) {
    const SpanIndex span = trace_.spans_by_time[at];
    const SpanKind kind = trace_.kind(span);
    const bool is_frame = kind == SpanKind::python_call;
    if (!is_frame && !is_host_range(kind)) continue;
    const std::int64_t start_ns = spans.start_ns[span];
    const std::int64_t end_ns = start_ns + spans.duration_ns[span];
    attach_memory_before(start_ns);
    ranges.close_until(start_ns);
    frames.close_until(start_ns);
    spans.parent[span] = ranges.innermost();
    spans.enclosing_frame[span] = frames.innermost();
    OpenSpans& own = is_frame ? frames : ranges;
    if (end_ns > own.innermost_end()) {
      const std::int64_t offset = span_offsets_[span];
      if (trouble[kOverlapCount]++ == 0 || offset < trouble[kOverlapOffset]) trouble[kOverlapOffset] = offset;
    }
    if (end_ns > start_ns) own.open(span, end_ns);
  }
  attach_memory_before(std::numeric_limits<std::int64_t>::max());
}

namespace {

// The operator that a flow's end points at: the innermost one that starts at its time, else the innermost
// that holds it.
SpanIndex span_at(const Trace& trace, TrackId id, std::int64_t time_ns) {
  const Track& track = trace.tracks[id];
  const SpanIndex* const begin = trace.spans_by_time.data() + track.begin;
  const SpanIndex* const end = trace.spans_by_time.data() + track.end;
  const SpanIndex* at = std::upper_bound(
      begin, end, time_ns, [&](std::int64_t time, SpanIndex span) { return time < trace.spans.start_ns[span]; });
  constexpr int kMostFramesBetween = 256;
  SpanIndex found = kNone;
  for (int i = 0; at != begin && i < kMostFramesBetween && found == kNone; ++i) {
    --at;
    if (trace.kind(*at) == SpanKind::cpu_op) found = *at;
  }
  if (found == kNone) return kNone;
  // Of several operators that start at this very moment the outermost is the one that made the node.
  while (trace.spans.parent[found] != kNone && trace.spans.start_ns[found] == time_ns &&
         trace.spans.start_ns[trace.spans.parent[found]] == time_ns &&
         trace.kind(trace.spans.parent[found]) == SpanKind::cpu_op) {
    found = trace.spans.parent[found];
  }
  while (found != kNone && trace.end_ns(found) < time_ns) found = trace.spans.parent[found];
  return found;
}

}  // namespace

void TraceBuilder::match_flows() {
  std::sort(flows_.begin(), flows_.end(), [](const FlowRow& a, const FlowRow& b) {
    if (a.category != b.category) return a.category < b.category;
    if (a.id != b.id) return a.id < b.id;
    if (a.is_start != b.is_start) return a.is_start;
    return a.offset < b.offset;
  });
  for (std::size_t begin = 0; begin < flows_.size();) {
    std::size_t end = begin;
    while (end < flows_.size() && flows_[end].category == flows_[begin].category &&
           flows_[end].id == flows_[begin].id) {
      ++end;
    }
    const FlowRow& first = flows_[begin];
    const bool has_start = first.is_start;
    const bool has_end = !flows_[end - 1].is_start;
    if (!has_start) note("flow_end_without_start", first.offset, static_cast<std::int64_t>(end - begin));
    if (!has_end) note("flow_start_without_end", first.offset, static_cast<std::int64_t>(end - begin));
    if (has_start && has_end && first.is_forward_backward) {
      const SpanIndex forward = span_at(trace_, first.track, first.time_ns);
      for (std::size_t i = begin; i < end; ++i) {
        if (flows_[i].is_start) continue;
        const SpanIndex backward = span_at(trace_, flows_[i].track, flows_[i].time_ns);
        if (forward != kNone && backward != kNone) trace_.forward_backward.push_back({forward, backward});
      }
    }
    begin = end;
  }
  flows_.clear();
}

}  // namespace vramscope
