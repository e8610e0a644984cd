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

const DeviceLog& Facts::device_log() const {
  static const DeviceLog kNoLog;
  return source_.device_log ? *source_.device_log : kNoLog;
}

const LogWeights& Facts::log_weights() {
  if (!log_weights_) log_weights_ = vramscope::log_weights(device_log());
  return *log_weights_;
}

const DeviceWindows& Facts::device_windows() {
  if (!device_windows_) device_windows_ = vramscope::device_windows(device_log(), log_weights());
  return *device_windows_;
}

const std::vector<ClockUse>& Facts::clock_use() {
  if (!clock_use_) clock_use_ = vramscope::clock_use(device_log(), log_weights());
  return *clock_use_;
}

const std::vector<LinkUse>& Facts::link_use() {
  if (!link_use_) link_use_ = vramscope::link_use(device_log());
  return *link_use_;
}

const LogGrowths& Facts::log_growth() {
  if (!log_growth_) log_growth_ = vramscope::log_growth(device_log());
  return *log_growth_;
}

const UnaccountedMemories& Facts::unaccounted_memory() {
  if (!unaccounted_memory_) unaccounted_memory_ = vramscope::unaccounted_memory(device_log());
  return *unaccounted_memory_;
}

const DeviceJobs& Facts::device_jobs() {
  if (!device_jobs_) device_jobs_ = vramscope::device_jobs(device_log());
  return *device_jobs_;
}

}  // namespace vramscope
