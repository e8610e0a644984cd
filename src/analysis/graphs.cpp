#include "analysis/graphs.h"

#include <algorithm>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "analysis/memory_sums.h"
#include "analysis/ranges.h"

namespace vramscope {

namespace {

constexpr std::string_view kEngine = "autograd::engine::evaluate_function";

bool starts_with(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

bool is_backward_op(const Trace& trace, SpanIndex i) {
  const OpArgs* args = trace.op_args_of(i);
  if (args != nullptr && args->forward_thread > 0) return true;
  const std::string_view name = trace.name(i);
  return starts_with(name, kEngine) || name == "torch::autograd::AccumulateGrad";
}

bool is_batch_mark(std::string_view name) {
  return starts_with(name, "enumerate(DataLoader)#");
}

// Operators of layers that hold parameters: what makes a pass the forward pass of a model.
bool is_model_op(std::string_view name) {
  for (const std::string_view part :
       {"linear", "addmm", "::mm", "matmul", "bmm", "conv", "embedding", "norm", "lstm", "gru", "rnn", "attention"}) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

struct Used {
  absl::flat_hash_set<std::int64_t> sequences;   // of backward operators, whatever the thread
  absl::flat_hash_set<SpanIndex> forward_spans;  // starts of forward-backward flows
};

Used used_numbers(const Trace& trace, Graphs& graphs) {
  Used used;
  for (SpanIndex i = 0; i < trace.spans.size(); ++i) {
    const SpanKind kind = trace.kind(i);
    if (kind != SpanKind::cpu_op && kind != SpanKind::annotation) continue;
    const bool backward = is_backward_op(trace, i);
    graphs.trains = graphs.trains || backward || starts_with(trace.name(i), "Optimizer.step#");
    const OpArgs* args = trace.op_args_of(i);
    if (!backward || args == nullptr || args->sequence_number == kUnknown) continue;
    ++graphs.numbered_backward;
    used.sequences.insert(args->sequence_number);
  }
  for (const ForwardBackward& flow : trace.forward_backward) {
    if (flow.forward != kNone) used.forward_spans.insert(flow.forward);
  }
  return used;
}

struct Numbered {
  SpanIndex op = kNone;
  std::int64_t sequence = 0;
};

// Forward operators with a number on one thread, in order of start; and where a new batch begins between them.
void collect(const Trace& trace, const Track& track, std::vector<Numbered>& ops, std::vector<std::int64_t>& batches) {
  for (std::uint32_t at = track.begin; at < track.end; ++at) {
    const SpanIndex i = trace.spans_by_time[at];
    const SpanKind kind = trace.kind(i);
    if (kind != SpanKind::cpu_op && kind != SpanKind::annotation) continue;
    if (is_batch_mark(trace.name(i))) batches.push_back(trace.spans.start_ns[i]);
    const OpArgs* args = trace.op_args_of(i);
    if (args == nullptr || args->sequence_number == kUnknown || is_in_backward(trace, i)) continue;
    ops.push_back({i, args->sequence_number});
  }
}

// Operators around the one that made the node carry its number too, and hold it.
void mark_recorded(const Trace& trace, const std::vector<Numbered>& ops, std::size_t maker, Graphs& graphs) {
  const auto node = static_cast<std::uint32_t>(graphs.nodes.size() - 1);
  const std::int64_t start = trace.spans.start_ns[ops[maker].op];
  for (std::size_t k = maker + 1; k-- > 0 && ops[k].sequence == ops[maker].sequence;) {
    if (k == maker || trace.end_ns(ops[k].op) > start) graphs.recorded.push_back({ops[k].op, node});
  }
}

bool is_used(const std::vector<Numbered>& ops, std::size_t maker, const Used& used) {
  if (used.sequences.contains(ops[maker].sequence)) return true;
  for (std::size_t k = maker + 1; k-- > 0 && ops[k].sequence == ops[maker].sequence;) {
    if (used.forward_spans.contains(ops[k].op)) return true;
  }
  return false;
}

void add_to_pass(const Trace& trace, const StepRanges& steps, const std::vector<std::int64_t>& batches,
                 bool first_of_thread, Graphs& graphs) {
  const std::size_t index = graphs.nodes.size() - 1;
  const ForwardNode& node = graphs.nodes[index];
  const std::int64_t start = trace.spans.start_ns[node.op];
  const std::uint32_t step = steps.index_at(start);
  const auto batch_of = [&](std::int64_t time) { return std::upper_bound(batches.begin(), batches.end(), time); };
  bool is_new = first_of_thread || graphs.passes.empty();
  if (!is_new) {
    const ForwardPass& last = graphs.passes.back();
    is_new = last.used != node.used || last.step != step || batch_of(last.begin_ns) != batch_of(start);
  }
  if (is_new) graphs.passes.push_back({index, index, start, start, 0, step, node.used, 0});
  ForwardPass& pass = graphs.passes.back();
  pass.end = index + 1;
  pass.end_ns = std::max(pass.end_ns, trace.end_ns(node.op));
  pass.busy_ns = add_bytes(pass.busy_ns, trace.spans.duration_ns[node.op]);
  if (is_model_op(trace.name(node.op))) ++pass.model_ops;
}

}  // namespace

bool is_in_backward(const Trace& trace, SpanIndex span) {
  for (; span != kNone; span = trace.spans.parent[span]) {
    if (is_backward_op(trace, span)) return true;
  }
  return false;
}

Graphs autograd_graphs(const Trace& trace, const StepRanges& steps) {
  Graphs graphs;
  const Used used = used_numbers(trace, graphs);
  for (const Track& track : trace.tracks) {
    std::vector<Numbered> ops;
    std::vector<std::int64_t> batches;
    collect(trace, track, ops, batches);
    graphs.numbered_forward += static_cast<std::int64_t>(ops.size());
    bool first = true;
    for (std::size_t i = 0; i + 1 < ops.size(); ++i) {
      // Python functions of the user have no "::"; they take a number even when nothing is recorded.
      if (ops[i + 1].sequence <= ops[i].sequence || trace.name(ops[i].op).find("::") == std::string_view::npos)
        continue;
      graphs.nodes.push_back({ops[i].op, ops[i].sequence, is_used(ops, i, used)});
      mark_recorded(trace, ops, i, graphs);
      add_to_pass(trace, steps, batches, first, graphs);
      first = false;
    }
  }
  std::sort(graphs.recorded.begin(), graphs.recorded.end());
  return graphs;
}

std::uint32_t Graphs::node_around(const Trace& trace, SpanIndex span) const {
  if (is_in_backward(trace, span)) return kNone;
  for (; span != kNone; span = trace.spans.parent[span]) {
    const auto found = std::lower_bound(recorded.begin(), recorded.end(), std::pair<SpanIndex, std::uint32_t>{span, 0});
    if (found != recorded.end() && found->first == span) return found->second;
  }
  return kNone;
}

std::vector<PassMemory> pass_memory(const Trace& trace, const MemoryPairs& pairs, const Graphs& graphs,
                                    std::int64_t end_ns) {
  std::vector<PassMemory> all(graphs.passes.size());
  std::vector<std::uint32_t> last_kept(graphs.passes.size(), kNone);
  const MemoryEvents& memory = trace.memory;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (memory.bytes[i] <= 0 || memory.address[i] == kUnknownAddress || memory.span[i] == kNone) continue;
    const std::uint32_t node = graphs.node_around(trace, memory.span[i]);
    if (node == kNone) continue;
    const auto after = std::upper_bound(graphs.passes.begin(), graphs.passes.end(), node,
                                        [](std::uint32_t n, const ForwardPass& pass) { return n < pass.begin; });
    const auto index = static_cast<std::size_t>(after - graphs.passes.begin()) - 1;
    PassMemory& pass = all[index];
    pass.allocated_bytes = add_bytes(pass.allocated_bytes, memory.bytes[i]);
    if (pairs.partner[i] != kNone && memory.time_ns[pairs.partner[i]] < end_ns) {
      pass.freed_bytes = add_bytes(pass.freed_bytes, memory.bytes[i]);
      continue;
    }
    pass.kept_bytes = add_bytes(pass.kept_bytes, memory.bytes[i]);
    pass.kept_events.push_back(static_cast<std::uint32_t>(i));
    if (node != last_kept[index]) ++pass.kept_nodes;
    last_kept[index] = node;
  }
  return all;
}

}  // namespace vramscope
