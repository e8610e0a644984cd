#include "analysis/ranges.h"

namespace vramscope {

std::vector<TimeRange> united(std::vector<TimeRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const TimeRange& a, const TimeRange& b) { return a.begin_ns < b.begin_ns; });
  std::vector<TimeRange> joined;
  for (const TimeRange& range : ranges) {
    if (range.end_ns <= range.begin_ns) continue;
    if (!joined.empty() && range.begin_ns <= joined.back().end_ns) {
      joined.back().end_ns = std::max(joined.back().end_ns, range.end_ns);
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

std::int64_t covered_ns(const std::vector<TimeRange>& ranges, std::int64_t begin_ns, std::int64_t end_ns) {
  std::int64_t total = 0;
  auto range =
      std::partition_point(ranges.begin(), ranges.end(), [&](const TimeRange& r) { return r.end_ns <= begin_ns; });
  for (; range != ranges.end() && range->begin_ns < end_ns; ++range) {
    const std::int64_t part = length_ns(std::max(begin_ns, range->begin_ns), std::min(end_ns, range->end_ns));
    total = add_bytes(total, part);
  }
  return total;
}

std::vector<TimeRange> device_busy(const Trace& trace, bool copies) {
  std::vector<TimeRange> ranges;
  for (SpanIndex i = 0; i < trace.spans.size(); ++i) {
    const SpanKind kind = trace.kind(i);
    if (kind == SpanKind::kernel || (copies && is_device_work(kind))) {
      ranges.push_back({trace.spans.start_ns[i], trace.end_ns(i)});
    }
  }
  return united(std::move(ranges));
}

SpanIndex enclosing_named(const Trace& trace, SpanIndex span, std::string_view name) {
  for (; span != kNone; span = trace.spans.parent[span]) {
    if (trace.name(span) == name) return span;
  }
  return kNone;
}

bool is_operator(const Trace& trace, SpanIndex span) {
  return trace.kind(span) == SpanKind::cpu_op && trace.name(span).find('#') == std::string_view::npos;
}

SpanIndex outermost_op(const Trace& trace, SpanIndex span) {
  SpanIndex op = kNone;
  for (; span != kNone; span = trace.spans.parent[span]) {
    if (is_operator(trace, span)) {
      op = span;
    } else if (op != kNone) {
      break;
    }
  }
  return op;
}

}  // namespace vramscope
