#pragma once
// Makes small recordings for the tests of rules: a clock that moves on, operators, allocations, steps.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "model/trace_builder.h"
#include "rules/rule.h"

namespace vramscope {

class Recording {
 public:
  Recording() {
    op_ = builder_.category(builder_.strings().intern("cpu_op"), SpanKind::cpu_op);
    mark_ = builder_.category(builder_.strings().intern("user_annotation"), SpanKind::annotation);
    api_ = builder_.category(builder_.strings().intern("cuda_runtime"), SpanKind::runtime_api);
    kernel_ = builder_.category(builder_.strings().intern("kernel"), SpanKind::kernel);
    copy_ = builder_.category(builder_.strings().intern("gpu_memcpy"), SpanKind::memcpy);
    frame_ = builder_.category(builder_.strings().intern("python_function"), SpanKind::python_call);
    thread_ = builder_.track(text("1"), text("1"));
    stream_ = builder_.track(text("0"), text("7"));
  }

  void pass(std::int64_t ns) { now_ += ns; }
  std::int64_t now() const { return now_; }

  // A range of the thread around what `inside` records; 10 ns at least.
  void mark(std::string_view name, const std::function<void()>& inside = {}) { range(mark_, name, kNone, inside); }
  void frame(std::string_view name, const std::function<void()>& inside) { range(frame_, name, kNone, inside); }
  void op(std::string_view name, const std::function<void()>& inside = {}) { range(op_, name, kNone, inside); }
  void numbered(std::string_view name, std::int64_t sequence, const std::function<void()>& inside = {}) {
    OpArgs args;
    args.sequence_number = sequence;
    args.forward_thread = 0;
    range(op_, name, builder_.add(args), inside);
  }
  void backward(std::string_view name, std::int64_t sequence, const std::function<void()>& inside = {}) {
    OpArgs args;
    args.sequence_number = sequence;
    args.forward_thread = 1;
    range(op_, name, builder_.add(args), inside);
  }
  void shaped(std::string_view name, std::string_view shapes, std::string_view types) {
    OpArgs args;
    args.shapes = text(shapes);
    args.types = text(types);
    range(op_, name, builder_.add(args), {});
  }
  void step(std::int64_t number, const std::function<void()>& inside) {
    mark("ProfilerStep#" + std::to_string(number), inside);
  }
  void api(std::string_view name, std::int64_t correlation, std::int64_t duration) {
    add(api_, name, correlation, kNone, thread_, now_, duration);
    now_ += duration;
  }
  void kernel(std::int64_t start, std::int64_t duration) {
    add(kernel_, "gemm", kUnknown, kNone, stream_, start, duration);
  }
  void copy(std::string_view name, std::int64_t correlation, std::int64_t bytes, std::int64_t start,
            std::int64_t duration) {
    DeviceArgs args;
    args.bytes = bytes;
    args.device = 0;
    add(copy_, name, correlation, builder_.add(args), stream_, start, duration);
  }

  std::uint64_t alloc(std::int64_t bytes, bool with_address = true) {
    const std::uint64_t address = with_address ? next_address_++ : kUnknownAddress;
    memory(bytes, address);
    return address;
  }
  void release(std::uint64_t address, std::int64_t bytes) { memory(-bytes, address); }

  Source finish() {
    Source source;
    source.path = "recording.json";
    builder_.finish(source);
    return source;
  }

 private:
  StringId text(std::string_view value) { return builder_.strings().intern(value); }
  void range(CategoryId category, std::string_view name, std::uint32_t args, const std::function<void()>& inside) {
    const std::int64_t start = now_;
    now_ += 5;
    if (inside) inside();
    now_ += 5;
    add(category, name, kUnknown, args, thread_, start, now_ - start);
    now_ += 1;
  }
  void add(CategoryId category, std::string_view name, std::int64_t id, std::uint32_t args, TrackId track,
           std::int64_t start, std::int64_t duration) {
    SpanRow row;
    row.start_ns = start;
    row.duration_ns = duration;
    row.id = id;
    row.name = text(name);
    row.track = track;
    row.args = args;
    row.category = category;
    builder_.add(row);
  }
  void memory(std::int64_t bytes, std::uint64_t address) {
    MemoryRow row;
    row.time_ns = now_++;
    row.bytes = bytes;
    row.address = address;
    row.track = thread_;
    row.device = {1, 0};
    builder_.add(row);
  }

  TraceBuilder builder_;
  CategoryId op_ = 0, mark_ = 0, api_ = 0, kernel_ = 0, copy_ = 0, frame_ = 0;
  TrackId thread_ = 0, stream_ = 0;
  std::int64_t now_ = 1000;
  std::uint64_t next_address_ = 4096;
};

// What one rule says of a recording.
inline Verdicts verdicts_of(const char* id, const Source& source) {
  Verdicts verdicts;
  Facts facts(source);
  for (const Rule& rule : rules()) {
    if (std::string_view(rule.id) == id) run_rule(rule, facts, verdicts);
  }
  return verdicts;
}

// The rule looked and found nothing.
inline bool is_silent(const Verdicts& verdicts) {
  return verdicts.findings.empty() && verdicts.passed.size() == 1;
}
inline bool is_skipped(const Verdicts& verdicts) {
  return verdicts.findings.empty() && verdicts.skipped.size() == 1;
}

}  // namespace vramscope
