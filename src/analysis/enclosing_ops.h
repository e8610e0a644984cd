#pragma once
// Which operator a moment on a host thread belongs to.
#include "model/trace.h"

namespace vramscope {

// The ranges that name work: operators and annotations. API calls happen inside them.
constexpr bool is_operator(SpanKind kind) {
  return kind == SpanKind::cpu_op || kind == SpanKind::annotation || kind == SpanKind::nvtx;
}

// For every host range the nearest operator or annotation around it, itself not counted; kNone for all others.
// Linear in the spans however deep they nest; 4 bytes a span.
Column<SpanIndex> enclosing_ops(const Trace& trace);

// The operator that `span` is or lies in. `span` may be kNone.
inline SpanIndex op_of(const Trace& trace, const Column<SpanIndex>& enclosing, SpanIndex span) {
  if (span == kNone || is_operator(trace.kind(span))) return span;
  return enclosing[span];
}

// The name as tables group it: every "ProfilerStep#12" is one "ProfilerStep*".
std::string_view grouped_name(std::string_view name);

}  // namespace vramscope
