#pragma once
// The spans and memory events of a recording as rows of a trace. Not thread-safe.
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/trace_builder.h"
#include "recording/records.h"

namespace vramscope::recorded {

// Trouble, in the source that finish() fills:
//   unknown_string   rows whose name was lost; they have none
//   unknown_thread   rows of a thread that was lost, left out
//   time_damaged     rows with a time that no clock shows, left out
//   events_lost      what the recorded program could not hand over
class RecordedTrace {
 public:
  // Of a process: "BOOT:PID:START_TICKS".
  void add_process(recording::SubjectId id, std::string_view key);
  void name_process(recording::SubjectId id, std::string_view name);
  void add_text(recording::TextId id, std::string_view text);
  void add_rows(const recording::TraceRows& rows);
  bool empty() const { return rows_ == 0; }
  // `offset_ns`: what to add to times for unix time. The trace is spent.
  void finish(std::int64_t offset_ns, Source& source);

 private:
  struct Process {
    std::string key;
    std::string name;
    StringId pid = 0;  // 0 until a thread of it shows up
  };
  struct Thread {
    TrackId track = 0;
    bool is_known = false;
  };
  void open(Process& process);
  StringId text(std::int64_t id);
  const Thread* thread(std::int64_t id);
  void add_threads(const recording::TraceRows& rows);
  void add_stacks(const recording::TraceRows& rows);
  void add_spans(const recording::TraceRows& rows);
  void add_memory(const recording::TraceRows& rows);
  StackId stack(std::int64_t id);
  CategoryId category(std::int64_t kind);

  TraceBuilder builder_;
  absl::flat_hash_map<recording::SubjectId, Process> processes_;
  std::unordered_map<std::string, std::string> pids_;  // keys by number: processes may have one number in turn
  std::vector<Thread> threads_;                        // by id
  std::vector<StringId> texts_;                        // by id
  std::vector<bool> has_text_;
  std::vector<std::string> stacks_;  // by id: frames from the innermost outwards, separated by ';'
  absl::flat_hash_map<std::int64_t, StackId> stack_ids_;
  absl::flat_hash_map<std::int64_t, CategoryId> categories_;
  std::int64_t rows_ = 0;
};

}  // namespace vramscope::recorded
