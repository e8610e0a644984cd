#include "analysis/enclosing_ops.h"

#include "base/parallel.h"

namespace vramscope {

Column<SpanIndex> enclosing_ops(const Trace& trace) {
  Column<SpanIndex> enclosing;
  enclosing.resize(trace.spans.size(), kNone);
  parallel_for(
      trace.tracks.size(),
      [&](std::size_t track) {
        // A parent starts before its children, so its own entry is there when they need it.
        for (std::uint32_t at = trace.tracks[track].begin; at < trace.tracks[track].end; ++at) {
          const SpanIndex span = trace.spans_by_time[at];
          const SpanIndex parent = trace.spans.parent[span];
          if (parent == kNone || !is_host_range(trace.kind(span))) continue;
          enclosing[span] = op_of(trace, enclosing, parent);
        }
      },
      worker_count_for(trace.spans.size()));
  return enclosing;
}

std::string_view grouped_name(std::string_view name) {
  constexpr std::string_view kStep = "ProfilerStep#";
  return name.substr(0, kStep.size()) == kStep ? std::string_view("ProfilerStep*") : name;
}

}  // namespace vramscope
