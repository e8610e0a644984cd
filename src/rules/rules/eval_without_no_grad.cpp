// Forward passes that recorded a graph which no backward pass ever used (docs/rules/eval-without-no-grad.md).
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "analysis/memory_sums.h"
#include "analysis/ranges.h"
#include "rule_table.h"
#include "rules/arguments.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr std::size_t kFewestNodes = 3;
constexpr std::int64_t kFewestPasses = 2;
constexpr double kRelevantShare = 0.01;

struct Training {
  std::size_t usual_nodes = 0;  // of a pass that a backward pass used
  std::uint32_t last_step = 0;  // the last step with one
  bool any = false;
  absl::flat_hash_set<StringId> ops;
};

struct Unused {
  std::int64_t passes = 0;
  std::int64_t nodes = 0;
  std::int64_t busy_ns = 0;  // from the first to the last operator of each pass
  std::int64_t allocated_bytes = 0;
  std::int64_t freed_bytes = 0;
  std::int64_t kept_bytes = 0;  // of passes before the last step
  std::int64_t kept_passes = 0;
  std::int64_t late_passes = 0;    // nothing but two later steps says that no backward pass comes
  std::int64_t like_training = 0;  // nodes of operators that training passes have too
  SpanIndex first = kNone;
  std::vector<std::uint32_t> kept_events;
};

// Numbers that follow one another: in a thinned recording they have holes.
bool is_dense(const Graphs& graphs, std::size_t begin, std::size_t end) {
  if (end - begin < 2) return true;
  const std::int64_t range = subtract_bytes(graphs.nodes[end - 1].sequence, graphs.nodes[begin].sequence);
  return range >= 0 && range / 2 <= static_cast<std::int64_t>(end - begin);
}

Training training_of(const Trace& trace, const Graphs& graphs) {
  Training training;
  std::vector<std::size_t> sizes;
  for (const ForwardPass& pass : graphs.passes) {
    if (!pass.used) continue;
    training.any = true;
    if (pass.step != kNone) training.last_step = std::max(training.last_step, pass.step);
    if (pass.model_ops > 0) sizes.push_back(pass.size());
    for (std::size_t n = pass.begin; n < pass.end; ++n) training.ops.insert(trace.spans.name[graphs.nodes[n].op]);
  }
  training.usual_nodes = median(std::move(sizes));
  return training;
}

// Why no backward pass can come any more; cut windows are no evidence.
enum class Ended { no, late, yes };

Ended how_ended(const ForwardPass& pass, const PassMemory& memory, const Training& training, std::size_t steps) {
  if (pass.step == kNone || pass.step + 1 >= steps) return Ended::no;
  if (training.any && training.last_step > pass.step) return Ended::yes;
  if (memory.allocated_bytes > 0 && memory.freed_bytes / 9 >= memory.allocated_bytes / 10) return Ended::yes;
  return pass.step + 2 < steps ? Ended::late : Ended::no;
}

Unused unused_of(Facts& facts, const Training& training) {
  Unused unused;
  const Graphs& graphs = facts.graphs();
  for (std::size_t p = 0; p < graphs.passes.size(); ++p) {
    const ForwardPass& pass = graphs.passes[p];
    if (pass.used || pass.model_ops == 0 || pass.size() < kFewestNodes) continue;
    if (training.any && pass.size() * 5 < training.usual_nodes) continue;  // a metric, not a model
    if (!is_dense(graphs, pass.begin, pass.end)) continue;
    const PassMemory& memory = facts.pass_memory()[p];
    const Ended ended = how_ended(pass, memory, training, facts.steps().size());
    if (ended == Ended::no) continue;
    ++unused.passes;
    unused.nodes += static_cast<std::int64_t>(pass.size());
    unused.busy_ns = add_bytes(unused.busy_ns, length_ns(pass.begin_ns, pass.end_ns));
    unused.allocated_bytes = add_bytes(unused.allocated_bytes, memory.allocated_bytes);
    unused.freed_bytes = add_bytes(unused.freed_bytes, memory.freed_bytes);
    if (memory.kept_nodes >= static_cast<std::int64_t>(kFewestNodes)) {
      ++unused.kept_passes;
      unused.kept_bytes = add_bytes(unused.kept_bytes, memory.kept_bytes);
      unused.kept_events.insert(unused.kept_events.end(), memory.kept_events.begin(), memory.kept_events.end());
    }
    if (ended == Ended::late) ++unused.late_passes;
    for (std::size_t n = pass.begin; n < pass.end; ++n) {
      if (training.ops.contains(facts.trace().spans.name[graphs.nodes[n].op])) ++unused.like_training;
    }
    if (unused.first == kNone) unused.first = graphs.nodes[pass.begin].op;
  }
  return unused;
}

const char* summary_of(const Unused& unused, bool trains) {
  if (!trains) {
    return N_(
        "{passes} forward passes recorded a graph, and the recording has no backward pass at all. If this program "
        "only infers, recording costs time and memory for nothing.");
  }
  if (unused.allocated_bytes == 0) {
    return N_(
        "{passes} forward passes recorded a graph that no backward pass used. The recording does not tell whether "
        "their results are kept; if they are, memory grows, and if not, they only cost time and a higher peak.");
  }
  if (unused.kept_passes * 2 > unused.passes) {
    return N_(
        "{passes} forward passes recorded a graph that no backward pass used, and their results are kept: {kept} were "
        "still alive at the end, so memory grows with each of them.");
  }
  return N_(
      "{passes} forward passes recorded a graph that no backward pass used. Their results are not kept, so memory does "
      "not grow; each pass holds {held} until it ends, and recording makes it slower.");
}

void report(Facts& facts, const Unused& unused, const Training& training, Verdicts& verdicts) {
  const std::int64_t total_ns = facts.steps().total_ns();
  const double share = total_ns > 0 ? static_cast<double>(unused.busy_ns) / static_cast<double>(total_ns) : 0.0;
  const bool kept = unused.kept_passes * 2 > unused.passes;
  const double likeness =
      training.any ? static_cast<double>(unused.like_training) / static_cast<double>(unused.nodes) : 0.5;
  const double late = static_cast<double>(unused.late_passes) / static_cast<double>(unused.passes);
  Finding finding;
  finding.severity = training.any && (kept || share >= kRelevantShare) ? Severity::warning : Severity::info;
  finding.confidence = bounded_confidence(confidence_from(unused.passes) * (0.5 + 0.5 * likeness) * (1.0 - 0.4 * late));
  finding.title = training.any ? N_("Forward passes without no_grad: their graphs are never used")
                               : N_("Inference records autograd graphs");
  finding.summary = summary_of(unused, training.any);
  finding.fix =
      N_("Run validation, inference and target networks under torch.no_grad(), or torch.inference_mode(). "
         "model.eval() alone does not switch recording off.");
  finding.fix_code =
      "model.eval()\n"
      "with torch.no_grad():\n"
      "    output = model(batch)";
  finding.arguments = {{"passes", count_value(unused.passes)},
                       {"kept", bytes_value(unused.kept_bytes)},
                       {"held", bytes_value(unused.allocated_bytes / unused.passes)}};
  finding.kept_events = unused.kept_events;
  std::sort(finding.kept_events.begin(), finding.kept_events.end());
  const Message place = where_span(facts, unused.first);
  finding.evidence.push_back({N_("forward passes that no backward pass used"), count_value(unused.passes), place});
  finding.evidence.push_back({N_("graph nodes recorded for nothing"), count_value(unused.nodes), place});
  finding.evidence.push_back({N_("time in these passes"), time_value(unused.busy_ns),
                              where_steps(facts.steps(), 0, facts.steps().size() - 1)});
  finding.evidence.push_back({N_("share of the steps in these passes"), share_value(share),
                              where_steps(facts.steps(), 0, facts.steps().size() - 1)});
  if (unused.allocated_bytes > 0) {
    finding.evidence.push_back({N_("allocated by these passes"), bytes_value(unused.allocated_bytes), place});
    finding.evidence.push_back({N_("of it alive at the end of the last step"), bytes_value(unused.kept_bytes), place});
  }
  verdicts.findings.push_back(std::move(finding));
}

// A recording from which operators were dropped has holes in its numbers everywhere.
bool is_thinned(const Graphs& graphs) {
  std::int64_t holes = 0;
  for (std::size_t n = 1; n < graphs.nodes.size(); ++n) {
    const std::int64_t gap = subtract_bytes(graphs.nodes[n].sequence, graphs.nodes[n - 1].sequence);
    if (gap > 1) holes = add_bytes(holes, gap - 1);
  }
  return holes > static_cast<std::int64_t>(graphs.nodes.size());
}

void check(Facts& facts, Verdicts& verdicts) {
  const Graphs& graphs = facts.graphs();
  if (graphs.numbered_forward == 0) {
    return skip(verdicts,
                N_("No forward operator carries a sequence number, so it cannot be told what recorded a graph."));
  }
  if (graphs.trains && graphs.numbered_backward == 0) {
    return skip(verdicts, N_("The recording trains, but its backward operators carry no sequence numbers."));
  }
  if (facts.steps().size() < 2) {
    return skip(verdicts,
                N_("Fewer than two whole steps were recorded: the backward pass of what is there may lie outside."));
  }
  if (is_thinned(graphs)) {
    return skip(verdicts,
                N_("Most graph nodes are missing from the recording: it holds only a part of the operators."));
  }
  const Training training = training_of(facts.trace(), graphs);
  const Unused unused = unused_of(facts, training);
  if (unused.passes >= kFewestPasses) report(facts, unused, training, verdicts);
}

}  // namespace

Rule rule_eval_without_no_grad() {
  return {"eval-without-no-grad", N_("forward passes that record a graph for nothing"), check};
}

}  // namespace vramscope
