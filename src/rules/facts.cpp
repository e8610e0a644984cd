#include "rules/facts.h"

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "analysis/card_memory.h"
#include "analysis/ranges.h"

namespace vramscope {

namespace {

void add_entries(const AllocatorFacts& facts, const MemoryState& state, const Case& input,
                 std::vector<ExplainedOom>& found) {
  const AllocatorLog& log = facts.device->log;
  std::size_t entry = 0;
  for (OutOfMemory& event : oom_events(*facts.device, facts.replay, state, card_bytes(input, facts.device->index))) {
    while (entry < log.size() && log.action[entry] != AllocatorAction::oom) ++entry;
    OomVerdict verdict = explain_oom(event, state.settings);
    found.push_back({std::move(event), std::move(verdict), &facts, entry});
    ++entry;
  }
}

}  // namespace

bool has_memory(const std::vector<AllocatorFacts>& allocators) {
  return std::any_of(allocators.begin(), allocators.end(), [](const AllocatorFacts& allocator) {
    return !allocator.device->segments.empty() || allocator.device->log.size() > 0;
  });
}

bool has_recorded(const AllocatorFacts& allocator) {
  const Replay& replay = allocator.replay;
  return replay.allocs > 0 || replay.frees > 0 || replay.ooms > 0 || replay.device_allocs > 0;
}

const Case& Facts::input() const {
  static const Case kNoCase;
  return input_ == nullptr ? kNoCase : *input_;
}

const StepRanges& Facts::steps() {
  if (!steps_) steps_ = step_ranges(trace());
  return *steps_;
}

const MemoryPairs& Facts::pairs() {
  if (!pairs_) pairs_ = pair_memory(trace());
  return *pairs_;
}

const std::vector<DeviceGrowth>& Facts::growth() {
  if (!growth_) growth_ = memory_growth(trace(), pairs(), steps());
  return *growth_;
}

const Graphs& Facts::graphs() {
  if (!graphs_) graphs_ = autograd_graphs(trace(), steps());
  return *graphs_;
}

const std::vector<PassMemory>& Facts::pass_memory() {
  if (!pass_memory_) {
    const std::int64_t end =
        steps().ranges.empty() ? std::numeric_limits<std::int64_t>::max() : steps().ranges.back().end_ns;
    pass_memory_ = vramscope::pass_memory(trace(), pairs(), graphs(), end);
  }
  return *pass_memory_;
}

const GradientUse& Facts::gradients() {
  if (!gradients_) gradients_ = gradient_use(trace());
  return *gradients_;
}

const LoaderUse& Facts::loader() {
  if (!loader_) loader_ = loader_use(trace(), steps(), device_busy(trace(), true));
  return *loader_;
}

const CopyUse& Facts::copies() {
  if (!copies_) copies_ = copy_use(trace(), steps());
  return *copies_;
}

const std::vector<AllocatorFacts>& Facts::allocators() {
  if (allocators_) return *allocators_;
  allocators_.emplace();
  if (!source_.memory_state) return *allocators_;
  for (const AllocatorDevice& device : source_.memory_state->devices) {
    if (device.segments.empty() && device.log.size() == 0) continue;
    allocators_->push_back({&device, replay_log(device), measure_segments(device)});
  }
  return *allocators_;
}

const std::vector<ExplainedOom>& Facts::ooms() {
  if (ooms_) return *ooms_;
  ooms_.emplace();
  // A host's allocator takes no part in what happens on a card.
  for (const AllocatorFacts& facts : allocators()) {
    if (facts.device->index >= 0) add_entries(facts, *source_.memory_state, input(), *ooms_);
  }
  for (const OutOfMemory& event : source_.out_of_memory) {
    ooms_->push_back({event, explain_oom(event, {}), nullptr, 0});
  }
  return *ooms_;
}

}  // namespace vramscope
