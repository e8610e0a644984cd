// Forward results of earlier steps that are still alive, and with them their autograd graphs
// (docs/rules/graph-kept.md).
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/memory_sums.h"
#include "rule_table.h"
#include "rules/arguments.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr std::int64_t kFewestNodes = 3;
constexpr std::int64_t kFewestKeepingSteps = 3;
constexpr std::size_t kGroupsShown = 5;

// Passes of one sort over the steps before the last.
struct Keeping {
  std::int64_t steps = 0;          // with such a pass
  std::int64_t keeping_steps = 0;  // of them, with one that is still alive
  std::int64_t passes = 0;         // alive
  std::int64_t nodes = 0;          // of the passes that are alive
  std::int64_t kept_nodes = 0;     // of them, with a block that is alive
  std::int64_t kept_bytes = 0;
  std::size_t first_step = 0;
  std::size_t last_step = 0;
  bool used = false;
  std::vector<std::uint32_t> events;
};

// A result that was detached keeps one block of its graph; a graph that is alive keeps results from all along it.
bool is_kept(const ForwardPass& pass, const PassMemory& memory) {
  const auto nodes = static_cast<std::int64_t>(pass.size());
  return nodes >= kFewestNodes && memory.kept_nodes >= kFewestNodes && memory.kept_nodes * 10 >= nodes;
}

Keeping keeping_of(Facts& facts, bool used) {
  Keeping keeping;
  keeping.used = used;
  const std::vector<PassMemory>& memory = facts.pass_memory();
  std::map<std::uint32_t, bool> steps;
  for (std::size_t p = 0; p < memory.size(); ++p) {
    const ForwardPass& pass = facts.graphs().passes[p];
    if (pass.used != used || pass.model_ops == 0 || pass.step == kNone) continue;
    if (pass.step + 1 >= facts.steps().size()) continue;  // the last step's results may still be needed
    bool& keeps = steps[pass.step];
    if (!is_kept(pass, memory[p])) continue;
    keeps = true;
    ++keeping.passes;
    keeping.nodes += static_cast<std::int64_t>(pass.size());
    keeping.kept_nodes += memory[p].kept_nodes;
    keeping.kept_bytes = add_bytes(keeping.kept_bytes, memory[p].kept_bytes);
    keeping.events.insert(keeping.events.end(), memory[p].kept_events.begin(), memory[p].kept_events.end());
  }
  for (const auto& [step, keeps] : steps) {
    ++keeping.steps;
    if (!keeps) continue;
    if (keeping.keeping_steps++ == 0) keeping.first_step = step;
    keeping.last_step = step;
  }
  return keeping;
}

struct Place {
  StringId op = 0;
  StringId frame = 0;
  std::int64_t bytes = 0;
};

std::vector<Place> places_of(const Trace& trace, const Graphs& graphs, const Keeping& keeping) {
  std::map<std::pair<StringId, StringId>, std::int64_t> sums;
  for (const std::uint32_t event : keeping.events) {
    const SpanIndex op = graphs.nodes[graphs.node_around(trace, trace.memory.span[event])].op;
    std::int64_t& sum = sums[{trace.spans.name[op], telling_frame(trace, trace.stack_of_memory(event))}];
    sum = add_bytes(sum, trace.memory.bytes[event]);
  }
  std::vector<Place> places;
  for (const auto& [key, bytes] : sums) places.push_back({key.first, key.second, bytes});
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.bytes > b.bytes; });
  return places;
}

const MemoryDevice& device_of(const Trace& trace, const Keeping& keeping) {
  std::vector<std::int64_t> bytes(trace.memory_devices.size(), 0);
  for (const std::uint32_t event : keeping.events) {
    std::int64_t& sum = bytes[trace.memory.device[event]];
    sum = add_bytes(sum, trace.memory.bytes[event]);
  }
  const auto most = std::max_element(bytes.begin(), bytes.end());
  return trace.memory_devices[static_cast<std::size_t>(most - bytes.begin())];
}

void add_evidence(Facts& facts, const Keeping& keeping, const std::vector<Place>& places, std::int64_t per_step,
                  Finding& finding) {
  const Message where = where_steps(facts.steps(), keeping.first_step, keeping.last_step);
  finding.evidence.push_back(
      {N_("forward results of earlier steps alive at the end"), bytes_value(keeping.kept_bytes), where});
  finding.evidence.push_back({N_("the same, for each step"), bytes_per_step(per_step), where});
  finding.evidence.push_back({N_("steps whose graph is still alive"), count_value(keeping.keeping_steps), where});
  finding.evidence.push_back({N_("graph nodes with a result that is alive"), count_value(keeping.kept_nodes), where});
  for (std::size_t i = 0; i < places.size() && i < kGroupsShown; ++i) {
    finding.evidence.push_back({N_("kept results of"), bytes_per_step(places[i].bytes / keeping.keeping_steps),
                                where_op(facts.trace(), places[i].op, places[i].frame)});
  }
}

void report(Facts& facts, const Keeping& keeping, Verdicts& verdicts) {
  const Trace& trace = facts.trace();
  const std::vector<Place> places = places_of(trace, facts.graphs(), keeping);
  const std::int64_t per_step = keeping.kept_bytes / keeping.keeping_steps;
  const bool has_place = places.front().frame != 0;
  Finding finding;
  finding.severity = growth_rate(facts, device_of(trace, keeping), per_step, 0).severity;
  const double coverage = static_cast<double>(keeping.keeping_steps) / static_cast<double>(keeping.steps);
  const double density =
      std::min(1.0, static_cast<double>(keeping.kept_nodes) / static_cast<double>(keeping.nodes) * 2);
  finding.confidence = bounded_confidence(confidence_from(keeping.keeping_steps) * coverage * (0.7 + 0.3 * density));
  finding.title = N_("Autograd graphs of earlier steps are kept alive");
  finding.summary =
      has_place
          ? N_("The forward results of {steps} earlier steps are still alive at the end, {per_step} a step, and they "
               "belong to a recorded graph: something holds a tensor that still has its history. Most bytes come "
               "from {op} at {place}.")
          : N_("The forward results of {steps} earlier steps are still alive at the end, {per_step} a step, and they "
               "belong to a recorded graph: something holds a tensor that still has its history. Most bytes come "
               "from {op}.");
  finding.fix =
      N_("Do not keep tensors that have a graph. Keep the number with item(), or detach() the tensor before it is "
         "stored or carried to the next step.");
  finding.fix_code =
      "total_loss += loss.item()    # not: total_loss += loss\n"
      "hidden = hidden.detach()     # before the next step";
  finding.arguments = {{"steps", count_value(keeping.keeping_steps)},
                       {"per_step", bytes_value(per_step)},
                       {"op", text_value(std::string(trace.strings.view(places.front().op)))},
                       {"place", text_value(std::string(trace.strings.view(places.front().frame)))}};
  add_evidence(facts, keeping, places, per_step, finding);
  finding.kept_events = keeping.events;
  std::sort(finding.kept_events.begin(), finding.kept_events.end());
  verdicts.findings.push_back(std::move(finding));
}

bool has_addresses(const MemoryPairs& pairs) {
  return std::any_of(pairs.by_device.begin(), pairs.by_device.end(),
                     [](const PairCounts& counts) { return counts.with_address > 0; });
}

void check(Facts& facts, Verdicts& verdicts) {
  if (facts.trace().memory.size() == 0) {
    return skip_without_memory(facts, verdicts);
  }
  if (!has_addresses(facts.pairs())) {
    return skip(verdicts,
                N_("The memory events have no addresses, so it cannot be told which blocks are alive; PyTorch 1.11 "
                   "or newer writes them."));
  }
  if (facts.steps().size() < kFewestSteps) {
    return skip(verdicts,
                NN_("Only {steps} whole step was recorded; at least {needed} are needed.",
                    "Only {steps} whole steps were recorded; at least {needed} are needed."),
                {{"steps", count_value(static_cast<std::int64_t>(facts.steps().size()))},
                 {"needed", count_value(kFewestSteps)}});
  }
  if (facts.graphs().numbered_forward == 0) {
    return skip(verdicts, N_("No operator carries a sequence number, so it cannot be told what recorded a graph."));
  }
  for (const bool used : {false, true}) {
    const Keeping keeping = keeping_of(facts, used);
    // A queue of bounded length has let its early steps go.
    if (keeping.keeping_steps < kFewestKeepingSteps || keeping.keeping_steps * 10 < keeping.steps * 8) continue;
    report(facts, keeping, verdicts);
  }
}

}  // namespace

Rule rule_graph_kept() {
  return {"graph-kept", N_("autograd graphs of earlier steps that are still alive"), check};
}

}  // namespace vramscope
