#pragma once
// What autograd recorded: which forward operators made a node of a graph, and whether a backward pass used it.
//
// PyTorch numbers the nodes of each thread. With gradients enabled a forward operator carries the number that the
// next node will get; the number moves on only when a node is really made. The backward operators of a node carry
// its number again, together with the forward thread. So a forward operator whose successor has a higher number
// recorded a node, and a number that no backward operator carries was never used.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/memory_pairs.h"
#include "analysis/step_ranges.h"
#include "model/trace.h"

namespace vramscope {

struct ForwardNode {
  SpanIndex op = kNone;  // the operator that made it
  std::int64_t sequence = 0;
  bool used = false;
};

// Nodes that follow one another on a thread within one step and one batch, all used or all unused.
struct ForwardPass {
  std::size_t begin = 0;  // into Graphs::nodes
  std::size_t end = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t busy_ns = 0;    // time in its operators
  std::uint32_t step = kNone;  // index into StepRanges
  bool used = false;
  std::int64_t model_ops = 0;  // of its nodes, those of layers with parameters: linear, convolution, norm, …
  std::size_t size() const { return end - begin; }
};

struct Graphs {
  std::int64_t numbered_forward = 0;  // operators with a sequence number, by direction
  std::int64_t numbered_backward = 0;
  bool trains = false;              // there is backward work or an optimizer step, numbered or not
  std::vector<ForwardNode> nodes;   // by thread, then in order
  std::vector<ForwardPass> passes;  // in the same order
  std::vector<std::pair<SpanIndex, std::uint32_t>> recorded;  // operators that hold a node, sorted; its index

  // The node that an operator around a span (itself included) recorded: an index into nodes, kNone without one or
  // when the span belongs to a backward pass.
  std::uint32_t node_around(const Trace& trace, SpanIndex span) const;
};

Graphs autograd_graphs(const Trace& trace, const StepRanges& steps);

// Whether the span runs as part of a backward pass.
bool is_in_backward(const Trace& trace, SpanIndex span);

// Memory that a pass left: blocks that its recording operators made.
struct PassMemory {
  std::int64_t allocated_bytes = 0;
  std::int64_t freed_bytes = 0;  // of them, freed before the end of the last step
  std::int64_t kept_bytes = 0;   // alive at that time
  std::int64_t kept_nodes = 0;   // different nodes with a block that is alive
  std::vector<std::uint32_t> kept_events;
};

// Parallel to graphs.passes. All zero for memory events without addresses.
std::vector<PassMemory> pass_memory(const Trace& trace, const MemoryPairs& pairs, const Graphs& graphs,
                                    std::int64_t end_ns);

}  // namespace vramscope
