#pragma once
// The facts of one source that rules rest on, each computed when it is first asked for, and once.
// Not thread-safe. The case and the source must outlive it.
#include <optional>
#include <vector>

#include "analysis/allocator_replay.h"
#include "analysis/clock_use.h"
#include "analysis/copies.h"
#include "analysis/device_jobs.h"
#include "analysis/device_windows.h"
#include "analysis/gradients.h"
#include "analysis/graphs.h"
#include "analysis/growth.h"
#include "analysis/link_use.h"
#include "analysis/loader.h"
#include "analysis/log_growth.h"
#include "analysis/log_weights.h"
#include "analysis/memory_pairs.h"
#include "analysis/oom_cause.h"
#include "analysis/segment_use.h"
#include "analysis/step_ranges.h"
#include "analysis/unaccounted_memory.h"
#include "model/source.h"

namespace vramscope {

// One device of a snapshot.
struct AllocatorFacts {
  const AllocatorDevice* device = nullptr;
  Replay replay;
  SegmentUse use;
};

// Whether its log holds allocations: some snapshots hold nothing but the note that they were taken.
bool has_recorded(const AllocatorFacts& allocator);

// Whether any of them holds or logs device memory: a snapshot taken in the wrong process has none.
bool has_memory(const std::vector<AllocatorFacts>& allocators);

// An allocation that failed.
struct ExplainedOom {
  OutOfMemory event;
  OomVerdict verdict;
  const AllocatorFacts* allocator = nullptr;  // of a snapshot's entry; nullptr for a message
  std::size_t entry = 0;                      // index into its log
};

class Facts {
 public:
  // A source of a case; without one the case is empty.
  explicit Facts(const Source& source) : source_(source) {}
  Facts(const Case& input, const Source& source) : input_(&input), source_(source) {}

  const Case& input() const;
  const Source& source() const { return source_; }
  const Trace& trace() const { return source_.trace; }
  const StepRanges& steps();
  const MemoryPairs& pairs();
  const std::vector<DeviceGrowth>& growth();
  const Graphs& graphs();
  // Memory of each of graphs().passes until the end of the last step.
  const std::vector<PassMemory>& pass_memory();
  const GradientUse& gradients();
  const LoaderUse& loader();
  const CopyUse& copies();
  // The devices of a snapshot that hold or did something; of a source without one none.
  const std::vector<AllocatorFacts>& allocators();
  // Entries of a snapshot's logs and messages, in file order.
  const std::vector<ExplainedOom>& ooms();

  // A log or a recording of devices; of a source without one it is empty.
  const DeviceLog& device_log() const;
  const LogWeights& log_weights();
  const DeviceWindows& device_windows();
  const std::vector<ClockUse>& clock_use();
  const std::vector<LinkUse>& link_use();
  const LogGrowths& log_growth();
  const UnaccountedMemories& unaccounted_memory();
  const DeviceJobs& device_jobs();

 private:
  const Case* input_ = nullptr;
  const Source& source_;
  std::optional<StepRanges> steps_;
  std::optional<MemoryPairs> pairs_;
  std::optional<std::vector<DeviceGrowth>> growth_;
  std::optional<Graphs> graphs_;
  std::optional<std::vector<PassMemory>> pass_memory_;
  std::optional<GradientUse> gradients_;
  std::optional<LoaderUse> loader_;
  std::optional<CopyUse> copies_;
  std::optional<std::vector<AllocatorFacts>> allocators_;
  std::optional<std::vector<ExplainedOom>> ooms_;
  std::optional<LogWeights> log_weights_;
  std::optional<DeviceWindows> device_windows_;
  std::optional<std::vector<ClockUse>> clock_use_;
  std::optional<std::vector<LinkUse>> link_use_;
  std::optional<LogGrowths> log_growth_;
  std::optional<UnaccountedMemories> unaccounted_memory_;
  std::optional<DeviceJobs> device_jobs_;
};

}  // namespace vramscope
