#pragma once
// The operator table: what PyTorch's key_averages() shows, recomputed from the events of a trace.
//
// Nesting is by thread and nanoseconds (Spans::parent). Self CPU time of a range is its duration less the parts of
// it that its direct children among the rows cover; a child that outlives it is cut at its end, so self time is
// never negative. Totals of a recursive operator count each call, as PyTorch's do. An allocation belongs to the
// innermost operator that holds its time in [start, end). Sums stop at the ends of int64.
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/device_filter.h"
#include "model/trace.h"

namespace vramscope {

struct OpQuery {
  // Operators and annotations; with all_rows also API calls (whose time then leaves the operators' self CPU time)
  // and what ran on devices.
  bool all_rows = false;
  bool by_shape = false;
  bool by_stack = false;
  bool by_step = false;
  bool by_annotation = false;
  std::size_t stack_depth = 5;  // innermost frames that tell stacks apart
  DeviceFilter device;          // limits device time and device memory

  bool is_grouped() const { return by_shape || by_stack || by_step || by_annotation; }
};

struct OpTotals {
  std::int64_t count = 0;
  std::int64_t self_cpu_ns = 0;
  std::int64_t total_cpu_ns = 0;
  std::int64_t self_device_ns = 0;
  std::int64_t total_device_ns = 0;
  std::int64_t self_cpu_bytes = 0;  // allocated less freed
  std::int64_t total_cpu_bytes = 0;
  std::int64_t self_device_bytes = 0;
  std::int64_t total_device_bytes = 0;
};

// Texts are those of the trace, which must outlive the table: a trace may have a million different names.
struct OpRow {
  std::string_view name;  // "ProfilerStep*" for every step
  OpTotals totals;
  std::optional<SpanKind> kind;     // none: "[memory]", the memory events outside any operator (count = events)
  std::optional<double> gigaflops;  // as the profiler estimated it; none where it wrote none
  // The group, as far as the query asks for it.
  std::string_view shapes;              // the file's own text; empty where not recorded
  std::vector<std::string_view> stack;  // innermost frame first
  std::optional<std::int64_t> step;     // none: outside any step
  std::string_view annotation;          // innermost annotation around it on its thread; empty without
};

// Device work that no operator could be found for, and memory events outside any operator.
struct Unattributed {
  std::int64_t device_ns = 0;
  std::int64_t count = 0;
  std::int64_t memory_events = 0;
  std::int64_t cpu_bytes = 0;     // net
  std::int64_t device_bytes = 0;  // net
};

struct OpTable {
  std::vector<OpRow> rows;  // in no order that means anything: see sort_rows
  Unattributed unattributed;
  std::int64_t self_cpu_ns = 0;  // of all rows
  std::int64_t device_ns = 0;    // of all device work that the query wants, attributed or not
  bool has_device_work = false;
  bool has_memory = false;
  bool has_device_memory = false;
  bool has_flops = false;
};

OpTable build_op_table(const Trace& trace, const OpQuery& query);

// "cpu_op", "annotation", …; "memory" for none. The same words in JSON and CSV, never translated.
const char* row_kind_name(std::optional<SpanKind> kind);

}  // namespace vramscope
