#pragma once
// Ranges of time and robust middles. Times come from files, so differences stop at the ends of int64.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/memory_sums.h"
#include "model/trace.h"

namespace vramscope {

struct TimeRange {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

// Never negative.
constexpr std::int64_t length_ns(std::int64_t begin_ns, std::int64_t end_ns) {
  return end_ns <= begin_ns ? 0 : subtract_bytes(end_ns, begin_ns);
}

// The middle value (the lower one of two); 0 for none.
template <typename T>
T median(std::vector<T> values) {
  if (values.empty()) return T{};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Sorted and joined: no two touch.
std::vector<TimeRange> united(std::vector<TimeRange> ranges);
// How much of [begin, end) the united ranges cover.
std::int64_t covered_ns(const std::vector<TimeRange>& ranges, std::int64_t begin_ns, std::int64_t end_ns);
// When any device ran a kernel, and with `copies` also a copy or a set: united.
std::vector<TimeRange> device_busy(const Trace& trace, bool copies);
// An operator; not one of the marks ("ProfilerStep#5", "Optimizer.step#SGD.step") that old exporters write as
// operators.
bool is_operator(const Trace& trace, SpanIndex span);
// The innermost operator or annotation around a span, itself included, of that name; kNone without one.
SpanIndex enclosing_named(const Trace& trace, SpanIndex span, std::string_view name);
// The outermost operator around a span, itself included, with only operators between; kNone without one.
SpanIndex outermost_op(const Trace& trace, SpanIndex span);

}  // namespace vramscope
