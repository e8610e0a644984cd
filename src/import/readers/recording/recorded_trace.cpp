#include "import/readers/recording/recorded_trace.h"

#include <algorithm>

#include "base/saturate.h"

namespace vramscope::recorded {

namespace {

using recording::ChunkKind;
using recording::RecordedSpan;
using recording::TraceRows;
namespace column = recording::column;

constexpr std::int64_t kMostIds = 4 << 20;  // of texts, threads or stacks
constexpr std::size_t kMostFrames = 256;    // of a stack

// A column that may be left out.
class Values {
 public:
  Values(const TraceRows& rows, std::uint16_t id) : values_(rows.column(id)) {}
  std::int64_t operator[](std::size_t row) const { return values_.empty() ? 0 : values_[row]; }

 private:
  const std::vector<std::int64_t>& values_;
};

struct KindName {
  const char* category;
  SpanKind kind;
};

KindName name_of(std::int64_t kind) {
  switch (static_cast<RecordedSpan>(kind)) {
    case RecordedSpan::nvtx_range:
    case RecordedSpan::nvtx_start_end:
    case RecordedSpan::nvtx_mark:
      return {"nvtx", SpanKind::nvtx};
    case RecordedSpan::os_call:
      return {"os_call", SpanKind::os_call};
    case RecordedSpan::cpu_op:
      return {"cpu_op", SpanKind::cpu_op};
    case RecordedSpan::annotation:
      return {"user_annotation", SpanKind::annotation};
    case RecordedSpan::python_call:
      return {"python_function", SpanKind::python_call};
    case RecordedSpan::runtime_api:
      return {"cuda_runtime", SpanKind::runtime_api};
    case RecordedSpan::driver_api:
      return {"cuda_driver", SpanKind::driver_api};
    case RecordedSpan::kernel:
      return {"kernel", SpanKind::kernel};
    case RecordedSpan::memcpy:
      return {"gpu_memcpy", SpanKind::memcpy};
    case RecordedSpan::memset:
      return {"gpu_memset", SpanKind::memset};
    case RecordedSpan::sync:
      return {"cuda_sync", SpanKind::sync};
    case RecordedSpan::opencl_api:
      return {"opencl", SpanKind::opencl_api};
    case RecordedSpan::overhead:
      return {"overhead", SpanKind::overhead};
  }
  return {"(unknown)", SpanKind::other};
}

}  // namespace

void RecordedTrace::add_process(recording::SubjectId id, std::string_view key) {
  processes_[id].key = std::string(key);
}

void RecordedTrace::name_process(recording::SubjectId id, std::string_view name) {
  const auto process = processes_.find(id);
  if (process == processes_.end()) return;
  process->second.name = std::string(name);
  if (process->second.pid != 0) builder_.name_process(process->second.pid, builder_.strings().intern(name));
}

// The second process with a number that another one had is told apart by its start.
void RecordedTrace::open(Process& process) {
  const std::string& key = process.key;
  const std::size_t first = key.find(':');
  const std::size_t last = key.rfind(':');
  std::string pid = first == key.npos || last <= first ? key : key.substr(first + 1, last - first - 1);
  if (pids_.try_emplace(pid, key).first->second != key) pid += "@" + key.substr(last + 1);
  process.pid = builder_.strings().intern(pid);
  if (!process.name.empty()) builder_.name_process(process.pid, builder_.strings().intern(process.name));
}

void RecordedTrace::add_text(recording::TextId id, std::string_view text) {
  if (id >= kMostIds) return;
  if (id >= texts_.size()) {
    texts_.resize(id + 1U);
    has_text_.resize(id + 1U);
  }
  texts_[id] = builder_.strings().intern(text);
  has_text_[id] = true;
}

StringId RecordedTrace::text(std::int64_t id) {
  if (id == 0) return 0;
  const auto place = static_cast<std::size_t>(id);
  if (id > 0 && place < texts_.size() && has_text_[place]) return texts_[place];
  builder_.note("unknown_string", 0);
  return 0;
}

const RecordedTrace::Thread* RecordedTrace::thread(std::int64_t id) {
  const auto place = static_cast<std::size_t>(id);
  if (id > 0 && place < threads_.size() && threads_[place].is_known) return &threads_[place];
  builder_.note("unknown_thread", 0);
  return nullptr;
}

CategoryId RecordedTrace::category(std::int64_t kind) {
  const auto [place, is_new] = categories_.try_emplace(kind, CategoryId{0});
  if (is_new) {
    const KindName name = name_of(kind);
    place->second = builder_.category(builder_.strings().intern(name.category), name.kind);
  }
  return place->second;
}

void RecordedTrace::add_threads(const TraceRows& rows) {
  const Values processes(rows, column::kThreadProcess), tids(rows, column::kThreadTid),
      names(rows, column::kThreadName);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::int64_t id = rows.column(column::kThreadId)[row];
    const auto process = processes_.find(static_cast<recording::SubjectId>(processes[row]));
    if (id <= 0 || id >= kMostIds || process == processes_.end()) {
      builder_.note("unknown_thread", 0);
      continue;
    }
    if (static_cast<std::size_t>(id) >= threads_.size()) threads_.resize(static_cast<std::size_t>(id) + 1);
    if (process->second.pid == 0) open(process->second);
    const StringId tid = builder_.strings().intern(std::to_string(tids[row]));
    threads_[static_cast<std::size_t>(id)] = {builder_.track(process->second.pid, tid), true};
    if (const StringId name = text(names[row]); name != 0) builder_.name_track(process->second.pid, tid, name);
  }
}

void RecordedTrace::add_stacks(const TraceRows& rows) {
  const Values parents(rows, column::kStackParent), frames(rows, column::kStackFrame);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::int64_t id = rows.column(column::kStackId)[row];
    if (id <= 0 || id >= kMostIds) continue;
    if (static_cast<std::size_t>(id) >= stacks_.size()) stacks_.resize(static_cast<std::size_t>(id) + 1);
    std::string written(builder_.strings().view(text(frames[row])));
    const std::int64_t parent = parents[row];
    if (parent > 0 && parent < id && static_cast<std::size_t>(parent) < stacks_.size()) {
      const std::string& outer = stacks_[static_cast<std::size_t>(parent)];
      if (std::count(outer.begin(), outer.end(), ';') < static_cast<std::ptrdiff_t>(kMostFrames)) {
        written += ";" + outer;
      }
    }
    stacks_[static_cast<std::size_t>(id)] = std::move(written);
  }
}

StackId RecordedTrace::stack(std::int64_t id) {
  if (id <= 0 || static_cast<std::size_t>(id) >= stacks_.size()) return 0;
  const auto [place, is_new] = stack_ids_.try_emplace(id, StackId{0});
  if (is_new) place->second = builder_.stack(builder_.strings().intern(stacks_[static_cast<std::size_t>(id)]));
  return place->second;
}

void RecordedTrace::add_spans(const TraceRows& rows) {
  const Values ends(rows, column::kSpanEnd), durations(rows, column::kSpanDuration), kinds(rows, column::kSpanKind),
      names(rows, column::kSpanName), correlations(rows, column::kSpanCorrelation), bytes(rows, column::kSpanBytes),
      stacks(rows, column::kSpanStack), devices(rows, column::kSpanDevice), streams(rows, column::kSpanStream);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const Thread* on = thread(rows.column(column::kSpanThread)[row]);
    if (on == nullptr) continue;
    const std::int64_t end_ns = ends[row], duration_ns = durations[row];
    if (!recording::is_plausible_time(end_ns) || duration_ns < 0 || duration_ns > end_ns) {
      builder_.note("time_damaged", 0);
      continue;
    }
    SpanRow span;
    span.start_ns = end_ns - duration_ns;
    span.duration_ns = duration_ns;
    span.name = text(names[row]);
    span.track = on->track;
    span.category = category(kinds[row]);
    if (correlations[row] != 0) span.id = correlations[row];
    span.stack = stack(stacks[row]);
    if (bytes[row] != 0 || devices[row] != 0 || streams[row] != 0) {
      DeviceArgs args;
      if (bytes[row] != 0) args.bytes = bytes[row];
      args.device = static_cast<std::int32_t>(devices[row] - 1);
      args.stream = static_cast<std::int32_t>(streams[row] - 1);
      span.args = builder_.add(args);
    }
    builder_.add(span);
    ++rows_;
  }
}

void RecordedTrace::add_memory(const TraceRows& rows) {
  constexpr std::int64_t kAllocated = 1, kFreed = 2;
  const Values threads(rows, column::kMemoryThread), actions(rows, column::kMemoryAction),
      addresses(rows, column::kMemoryAddress), bytes(rows, column::kMemoryBytes), devices(rows, column::kMemoryDevice);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (actions[row] != kAllocated && actions[row] != kFreed) continue;  // segments are the allocator's own affair
    const Thread* on = thread(threads[row]);
    if (on == nullptr) continue;
    const std::int64_t time_ns = rows.column(column::kMemoryTime)[row];
    if (!recording::is_plausible_time(time_ns) || bytes[row] < 0) {
      builder_.note("time_damaged", 0);
      continue;
    }
    MemoryRow event;
    event.time_ns = time_ns;
    event.bytes = actions[row] == kAllocated ? bytes[row] : -bytes[row];
    event.address = static_cast<std::uint64_t>(addresses[row]);
    event.track = on->track;
    constexpr std::int32_t kCuda = 1;
    if (devices[row] > 0) event.device = {kCuda, static_cast<std::int32_t>(devices[row] - 1), 0};
    builder_.add(event);
    ++rows_;
  }
}

void RecordedTrace::add_rows(const TraceRows& rows) {
  switch (rows.kind) {
    case ChunkKind::threads:
      return add_threads(rows);
    case ChunkKind::stacks:
      return add_stacks(rows);
    case ChunkKind::spans:
      return add_spans(rows);
    case ChunkKind::memory_events:
      return add_memory(rows);
    case ChunkKind::losses: {
      std::int64_t lost = 0;
      const Values counts(rows, column::kLossCount);
      for (std::size_t row = 0; row < rows.size(); ++row)
        lost = saturating_add(lost, std::max<std::int64_t>(counts[row], 0));
      if (lost > 0) builder_.note("events_lost", 0, lost);
      return;
    }
    default:
      return;
  }
}

void RecordedTrace::finish(std::int64_t offset_ns, Source& source) {
  builder_.set_time_base(offset_ns);
  builder_.finish(source);
}

}  // namespace vramscope::recorded
