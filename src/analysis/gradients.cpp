#include "analysis/gradients.h"

#include <algorithm>
#include <utility>

#include "analysis/memory_sums.h"
#include "analysis/ranges.h"
#include "analysis/step_ranges.h"

namespace vramscope {

namespace {

constexpr std::string_view kAccumulate = "torch::autograd::AccumulateGrad";

struct Stored {
  std::int64_t time_ns = 0;
  bool in_place = false;
  SpanIndex add = kNone;
};

struct Marks {
  std::vector<Stored> gradients;
  std::vector<std::int64_t> clearing;
  std::int64_t accumulate_calls = 0;
};

// A call of its own, not a part of zeros() or of another operator. Optimizers call it from inside their marks.
bool is_clearing(const Trace& trace, SpanIndex i) {
  const std::string_view name = trace.name(i);
  if (name.substr(0, 19) == "Optimizer.zero_grad") return true;
  if (name == "aten::_foreach_zero_") return true;
  if (name != "aten::zero_" && name != "aten::fill_") return false;
  const SpanIndex up = trace.spans.parent[i];
  return up == kNone || !is_operator(trace, up);
}

// A call with nothing inside it either took the new gradient over or was recorded without its inner operators;
// PyTorch records the add that accumulates, so it counts as taken over.
Stored stored_by(const Trace& trace, const Track& track, std::uint32_t at) {
  const SpanIndex call = trace.spans_by_time[at];
  Stored stored{trace.spans.start_ns[call], false, kNone};
  const std::int64_t end = trace.end_ns(call);
  for (std::uint32_t k = at + 1; k < track.end; ++k) {
    const SpanIndex inner = trace.spans_by_time[k];
    if (trace.spans.start_ns[inner] >= end) break;
    if (trace.spans.parent[inner] != call) continue;
    const std::string_view name = trace.name(inner);
    if (name != "aten::add_" && name != "aten::_foreach_add_") continue;
    stored.in_place = true;
    stored.add = inner;
    break;
  }
  return stored;
}

Marks collect(const Trace& trace) {
  Marks marks;
  for (const Track& track : trace.tracks) {
    for (std::uint32_t at = track.begin; at < track.end; ++at) {
      const SpanIndex i = trace.spans_by_time[at];
      const SpanKind kind = trace.kind(i);
      if (kind != SpanKind::cpu_op && kind != SpanKind::annotation) continue;
      if (trace.name(i) == kAccumulate) {
        ++marks.accumulate_calls;
        marks.gradients.push_back(stored_by(trace, track, at));
      } else if (is_clearing(trace, i)) {
        marks.clearing.push_back(trace.spans.start_ns[i]);
      }
    }
  }
  std::sort(marks.clearing.begin(), marks.clearing.end());
  std::stable_sort(marks.gradients.begin(), marks.gradients.end(),
                   [](const Stored& a, const Stored& b) { return a.time_ns < b.time_ns; });
  return marks;
}

std::optional<std::int64_t> size_of_type(std::string_view type) {
  constexpr std::pair<std::string_view, std::int64_t> kSizes[] = {
      {"float", 4},    {"double", 8}, {"c10::Half", 2}, {"c10::BFloat16", 2},
      {"long int", 8}, {"long", 8},   {"int", 4},       {"c10::complex<float>", 8}};
  for (const auto& [name, size] : kSizes) {
    if (type == name) return size;
  }
  return std::nullopt;
}

std::optional<std::int64_t> bytes_added(const Trace& trace, const std::vector<Stored>& gradients,
                                        const UpdateInterval& interval) {
  std::int64_t total = 0;
  for (const Stored& stored : gradients) {
    if (stored.time_ns < interval.begin_ns || stored.time_ns >= interval.end_ns || stored.add == kNone) continue;
    const OpArgs* args = trace.op_args_of(stored.add);
    if (args == nullptr) return std::nullopt;
    const auto bytes = first_tensor_bytes(trace.strings.view(args->shapes), trace.strings.view(args->types));
    if (!bytes) return std::nullopt;
    total = add_bytes(total, *bytes);
  }
  return total > 0 ? std::optional(total) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> first_tensor_bytes(std::string_view shapes, std::string_view types) {
  const std::size_t quote = types.find('"');
  if (shapes.substr(0, 2) != "[[" || quote == std::string_view::npos) return std::nullopt;
  const auto size = size_of_type(types.substr(quote + 1, types.find('"', quote + 1) - quote - 1));
  if (!size) return std::nullopt;
  std::int64_t product = *size;
  std::int64_t number = -1;
  for (const char c : shapes.substr(2)) {
    if (c >= '0' && c <= '9') {
      number = number < 0 ? c - '0' : add_bytes(0, number > 100000000000 ? number : number * 10 + (c - '0'));
    } else if (c == ',' || c == ']') {
      if (number >= 0 && __builtin_mul_overflow(product, number, &product)) return std::nullopt;
      number = -1;
      if (c == ']') return product;
    } else if (c != ' ') {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

GradientUse gradient_use(const Trace& trace) {
  GradientUse use;
  const std::vector<SpanIndex> steps = optimizer_steps(trace);
  use.optimizer_steps = static_cast<std::int64_t>(steps.size());
  const Marks marks = collect(trace);
  use.accumulate_calls = marks.accumulate_calls;
  if (steps.empty()) return use;
  use.last_step = steps.back();
  std::int64_t begin = trace.spans.start_ns[steps.front()];
  auto gradient = std::lower_bound(marks.gradients.begin(), marks.gradients.end(), begin,
                                   [](const Stored& stored, std::int64_t time) { return stored.time_ns < time; });
  for (std::size_t s = 1; s < steps.size(); ++s) {
    UpdateInterval interval{begin, trace.spans.start_ns[steps[s]], 0, 0, 0};
    for (; gradient != marks.gradients.end() && gradient->time_ns < interval.end_ns; ++gradient) {
      ++interval.gradients;
      interval.in_place += gradient->in_place ? 1 : 0;
    }
    if (interval.gradients == 0) continue;  // another optimizer of the same update
    const auto from = std::lower_bound(marks.clearing.begin(), marks.clearing.end(), interval.begin_ns);
    const auto to = std::lower_bound(from, marks.clearing.end(), interval.end_ns);
    interval.clearing = to - from;
    use.intervals.push_back(interval);
    begin = interval.end_ns;
  }
  if (!use.intervals.empty()) use.gradient_bytes = bytes_added(trace, marks.gradients, use.intervals.back());
  return use;
}

}  // namespace vramscope
