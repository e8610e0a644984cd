#pragma once
// The events of one source, as columns. Built by TraceBuilder, read-only afterwards.
//
// Units: times are int64 nanoseconds on the source's own clock (see Source), sizes are bytes.
// "Unknown" has a value of its own in every column and is never 0.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/column.h"
#include "model/string_pool.h"

namespace vramscope {

using SpanIndex = std::uint32_t;
using TrackId = std::uint32_t;
using CategoryId = std::uint16_t;                    // index into Trace::categories
using StackId = std::uint32_t;                       // index into Stacks; 0 = no stack
inline constexpr std::uint32_t kNone = 0xffffffffu;  // no such span, track, argument row
inline constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::min();
inline constexpr std::uint64_t kUnknownAddress = ~std::uint64_t{0};

enum class SpanKind : std::uint8_t {
  cpu_op,       // a framework operator
  annotation,   // a range that the user, the optimizer, the data loader or the profiler named
  python_call,  // a Python or C frame of a call tree
  runtime_api,  // cudaLaunchKernel, hipMemcpyAsync, …
  driver_api,   // cuLaunchKernel, …
  kernel,
  memcpy,
  memset,
  sync,  // waits seen from the device side
  os_call,
  nvtx,
  opencl_api,
  overhead,           // the profiler's own cost
  device_annotation,  // an annotation projected on a device
  other,              // a category that we do not know; it keeps its own name
};

// Kernels, copies and sets: what makes a device busy.
constexpr bool is_device_work(SpanKind kind) {
  return kind == SpanKind::kernel || kind == SpanKind::memcpy || kind == SpanKind::memset;
}
// What takes part in the nesting of operators on a thread. Python frames do not: they are transparent.
constexpr bool is_host_range(SpanKind kind) {
  return kind == SpanKind::cpu_op || kind == SpanKind::annotation || kind == SpanKind::runtime_api ||
         kind == SpanKind::driver_api || kind == SpanKind::nvtx || kind == SpanKind::os_call ||
         kind == SpanKind::opencl_api;
}

// A category as the file names it ("cpu_op", "Operator", …) and what we take it for.
struct Category {
  StringId name = 0;
  SpanKind kind = SpanKind::other;
};

// One lane of events: a host thread or a device stream, as (pid, tid) of the file.
struct Track {
  StringId pid = 0;   // as the file writes it: "25738", "0", "Spans"
  StringId tid = 0;   // "25738", "7", "stream 7"
  StringId name = 0;  // from thread_name metadata, else 0
  StringId process_name = 0;
  // This track's spans sorted by (start, longer first, lower id first): spans_by_time[begin, end) of Trace.
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// At most 64 bytes a span at rest, argument rows included.
struct Spans {
  Column<std::int64_t> start_ns;
  Column<std::int64_t> duration_ns;  // never negative
  // cpu_op, annotation: the "External id" (kUnknown without one). API calls and device work: the correlation
  // id that joins a launch to what ran. Others: kUnknown.
  Column<std::int64_t> id;
  Column<StringId> name;
  Column<TrackId> track;
  Column<StackId> stack;        // as written by the profiler ("Call stack"); 0 = none, see enclosing_frame
  Column<std::uint32_t> args;   // row in Trace::op_args (cpu_op, annotation) or device_args (others), or kNone
  Column<CategoryId> category;  // index into Trace::categories
  // Derived by TraceBuilder from time and track:
  Column<SpanIndex> parent;           // innermost open host range on the track (is_host_range), or kNone
  Column<SpanIndex> enclosing_frame;  // innermost open python_call on the track, or kNone
  std::size_t size() const { return start_ns.size(); }
};

// What only operators carry. Shapes and types are the file's own JSON text, e.g. [[64, 3], []].
struct OpArgs {
  StringId shapes = 0;
  StringId types = 0;
  std::int64_t sequence_number = kUnknown;  // joins a forward operator to its backward one
  std::int32_t forward_thread = -1;         // "Fwd thread id": set (>= 0, non-zero on most) on backward operators
  float gigaflops = -1;                     // -1 = not given
};

// What only API calls and device work carry.
struct DeviceArgs {
  std::int64_t external_id = kUnknown;  // the operator that launched it; some versions write the correlation here
  std::int64_t bytes = kUnknown;        // of a copy or set
  std::int32_t device = -1;             // -1 = not given
  std::int32_t stream = -1;
};

// A device as memory events name it, and the process whose allocator it is: each has totals and addresses of its own.
// Numbers of `type` are those of c10::DeviceType (c10/core/DeviceType.h): 0 CPU, 1 CUDA, 6 HIP, 12 XPU, 13 MPS,
// 19 MTIA, 20 PrivateUse1.
struct MemoryDevice {
  static constexpr std::int32_t kUnknownType = -1;  // the event names a device that cannot be
  std::int32_t type = 0;
  std::int32_t index = -1;
  StringId process = 0;      // the pid of the events' track; filled by TraceBuilder
  std::string name() const;  // "cpu", "cuda:0" (AMD's too), "xpu:1", "device-type-42:0", "unknown-device:0"
  bool is_cpu() const { return type == 0; }
  bool operator==(const MemoryDevice&) const = default;
};

// Allocations and frees in file order until TraceBuilder sorts them by time (stable).
struct MemoryEvents {
  Column<std::int64_t> time_ns;
  Column<std::int64_t> bytes;            // > 0 allocated, < 0 freed
  Column<std::uint64_t> address;         // kUnknownAddress where the file has none (torch before 1.11)
  Column<std::int64_t> total_allocated;  // the allocator's own totals after the event; kUnknown where absent
  Column<std::int64_t> total_reserved;
  Column<TrackId> track;
  Column<std::uint32_t> device;  // index into Trace::memory_devices
  Column<SpanIndex> span;        // innermost host range whose [start, end) holds it on its track, or kNone
  Column<SpanIndex> frame;       // innermost python_call that holds it on its track, or kNone
  std::size_t size() const { return time_ns.size(); }
};

// Links from a forward operator to its backward one ("fwdbwd"): spans that hold the flow's ends.
struct ForwardBackward {
  SpanIndex forward = kNone;
  SpanIndex backward = kNone;
};

// Call stacks as a tree; node 0 is "no stack". A stack is its innermost frame; parent is the caller.
struct Stacks {
  struct Node {
    StringId frame = 0;
    StackId parent = 0;
  };
  std::vector<Node> nodes = {Node{}};
};

// Values of a counter event ("ph": "C") over time, sorted.
struct CounterSeries {
  StringId name = 0;
  StringId key = 0;
  TrackId track = kNone;
  Column<std::int64_t> time_ns;
  Column<double> value;
};

// Points in time without duration that are not memory events ("Iteration Start", "Record Window End", …).
struct Instant {
  std::int64_t time_ns = 0;
  StringId name = 0;
  CategoryId category = 0;
  TrackId track = kNone;
};

// A training or serving step as the profiler marks it ("ProfilerStep#12"), sorted by begin.
struct Step {
  std::int64_t number = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  SpanIndex span = kNone;
};

struct Trace {
  StringPool strings;
  std::vector<Category> categories;
  std::vector<Track> tracks;
  Spans spans;
  Column<SpanIndex> spans_by_time;  // grouped by track, see Track::begin
  std::vector<OpArgs> op_args;
  std::vector<DeviceArgs> device_args;
  std::vector<MemoryDevice> memory_devices;
  MemoryEvents memory;
  std::vector<ForwardBackward> forward_backward;
  Stacks stacks;
  std::vector<CounterSeries> counters;
  std::vector<Instant> instants;
  std::vector<Step> steps;

  SpanKind kind(SpanIndex i) const { return categories[spans.category[i]].kind; }
  std::string_view name(SpanIndex i) const { return strings.view(spans.name[i]); }
  std::int64_t end_ns(SpanIndex i) const { return spans.start_ns[i] + spans.duration_ns[i]; }
  // The device that a device span ran on: its "device" argument, else its track's pid; -1 when neither tells.
  std::int32_t device_of(SpanIndex i) const;
  const DeviceArgs* device_args_of(SpanIndex i) const;  // nullptr without
  const OpArgs* op_args_of(SpanIndex i) const;          // nullptr without
  // The process of a memory device as the file writes it, where another one has memory on the same device; else empty.
  std::string_view process_sharing(std::uint32_t memory_device) const;
  // Frames from the innermost outwards: the written stack of the span, of its nearest ancestor that has one,
  // or the Python frames that enclose it. Empty when the profiler recorded none.
  std::vector<StringId> stack_of(SpanIndex i) const;
  // The same for a memory event.
  std::vector<StringId> stack_of_memory(std::size_t event) const;
};

}  // namespace vramscope
