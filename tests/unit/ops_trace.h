#pragma once
// Small traces for the tests of the operator table, written as a list of calls.
#include <string>
#include <string_view>

#include "model/trace_builder.h"

namespace vramscope {

class OpsTrace {
 public:
  explicit OpsTrace(TraceBuilder& builder) : builder_(builder) {}

  // Ranges are [start, end) in nanoseconds on thread `tid`.
  void op(std::string_view name, std::int64_t start, std::int64_t end, std::string_view tid = "1",
          std::int64_t id = kUnknown, std::uint32_t args = kNone, StackId stack = 0) {
    span("cpu_op", SpanKind::cpu_op, name, start, end, tid, id, args, stack);
  }
  void annotation(std::string_view name, std::int64_t start, std::int64_t end, std::string_view tid = "1") {
    span("user_annotation", SpanKind::annotation, name, start, end, tid, kUnknown, kNone, 0);
  }
  void python(std::string_view name, std::int64_t start, std::int64_t end, std::string_view tid = "1") {
    span("python_function", SpanKind::python_call, name, start, end, tid, kUnknown, kNone, 0);
  }
  void call(std::string_view name, std::int64_t start, std::int64_t end, std::int64_t correlation,
            std::string_view tid = "1") {
    span("cuda_runtime", SpanKind::runtime_api, name, start, end, tid, correlation, kNone, 0);
  }
  void kernel(std::string_view name, std::int64_t start, std::int64_t end, std::int64_t correlation,
              std::int64_t external_id = kUnknown, std::int32_t device = 0) {
    DeviceArgs args;
    args.external_id = external_id;
    args.device = device;
    span("kernel", SpanKind::kernel, name, start, end, "stream 7", correlation, builder_.add(args), 0);
  }
  void memory(std::int64_t time, std::int64_t bytes, std::uint64_t address, MemoryDevice device = {0, -1},
              std::int64_t total = kUnknown, std::string_view tid = "1") {
    MemoryRow row;
    row.time_ns = time;
    row.bytes = bytes;
    row.address = address;
    row.device = device;
    row.total_allocated = total;
    row.track = track(tid);
    builder_.add(row);
  }
  std::uint32_t shapes(std::string_view text, float gigaflops = -1) {
    OpArgs args;
    args.shapes = builder_.strings().intern(text);
    args.gigaflops = gigaflops;
    return builder_.add(args);
  }

 private:
  TrackId track(std::string_view tid) {
    return builder_.track(builder_.strings().intern("1"), builder_.strings().intern(tid));
  }
  void span(std::string_view category, SpanKind kind, std::string_view name, std::int64_t start, std::int64_t end,
            std::string_view tid, std::int64_t id, std::uint32_t args, StackId stack) {
    SpanRow row;
    row.start_ns = start;
    row.duration_ns = end - start;
    row.id = id;
    row.name = builder_.strings().intern(name);
    row.track = track(tid);
    row.stack = stack;
    row.args = args;
    row.category = builder_.category(builder_.strings().intern(category), kind);
    builder_.add(row);
  }

  TraceBuilder& builder_;
};

// The source that `fill` describes.
template <typename Fill>
Source make_ops_source(const Fill& fill) {
  TraceBuilder builder;
  OpsTrace trace(builder);
  fill(trace);
  Source source;
  source.path = "made.json";
  builder.finish(source);
  return source;
}

}  // namespace vramscope
