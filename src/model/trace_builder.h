#pragma once
// Collects the events of a source in file order and makes a Trace of them: pairs begin/end events, sorts,
// nests, attaches allocations to operators, matches flows, finds steps. Once, for all formats.
//
// Not thread-safe while events are added; finish() uses all cores. Trouble is counted, never thrown.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/source.h"

namespace vramscope {

struct SpanRow {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;  // negative: clamped to 0 and counted
  std::int64_t id = kUnknown;
  std::int64_t offset = 0;  // byte offset in the file, for trouble
  StringId name = 0;
  TrackId track = 0;
  StackId stack = 0;
  std::uint32_t args = kNone;
  CategoryId category = 0;
};

struct MemoryRow {
  std::int64_t time_ns = 0;
  std::int64_t bytes = 0;
  std::int64_t total_allocated = kUnknown;
  std::int64_t total_reserved = kUnknown;
  std::uint64_t address = kUnknownAddress;
  TrackId track = 0;
  MemoryDevice device;  // its process comes from the track
};

// One half of a begin/end pair.
struct MarkRow {
  std::int64_t time_ns = 0;
  std::int64_t id = kUnknown;
  std::int64_t offset = 0;
  StringId name = 0;
  TrackId track = 0;
  std::uint32_t args = kNone;
  CategoryId category = 0;
  bool is_begin = false;
};

struct FlowRow {
  std::int64_t time_ns = 0;
  std::int64_t id = 0;
  std::int64_t offset = 0;
  TrackId track = 0;
  CategoryId category = 0;
  bool is_start = false;
  bool is_forward_backward = false;
};

class TraceBuilder {
 public:
  static constexpr std::size_t kMostMemoryDevices = 4096;

  TraceBuilder();

  StringPool& strings() { return trace_.strings; }
  // The index of a category; after 65,534 different ones all further ones share the name "(more categories)".
  CategoryId category(StringId name, SpanKind kind);
  SpanKind kind_of(CategoryId category) const { return trace_.categories[category].kind; }
  StringId category_name(CategoryId category) const { return trace_.categories[category].name; }
  TrackId track(StringId pid, StringId tid);
  void name_track(StringId pid, StringId tid, StringId name);
  void name_process(StringId pid, StringId name);
  // A written stack, innermost frame first, frames separated by ';'. Same text, same id.
  StackId stack(StringId text);
  std::uint32_t add(const OpArgs& args);
  std::uint32_t add(const DeviceArgs& args);

  std::size_t op_args_size() const { return trace_.op_args.size(); }
  std::size_t device_args_size() const { return trace_.device_args.size(); }

  void add(const SpanRow& row);
  // After kMostMemoryDevices different devices events on further ones are left out and counted.
  void add(const MemoryRow& row);
  void add(const MarkRow& row) { marks_.push_back(row); }
  void add(const FlowRow& row) { flows_.push_back(row); }
  void add(const Instant& row) { trace_.instants.push_back(row); }
  // Added to every time at finish(): an offset that the file tells only after its events.
  void set_time_base(std::int64_t base_ns) { time_base_ns_ = base_ns; }
  void add_counter(StringId name, StringId key, TrackId track, std::int64_t time_ns, double value);

  // Counts trouble under a fixed name; keeps the smallest offset.
  void note(std::string_view name, std::int64_t offset, std::int64_t count = 1);

  // Moves the trace and the trouble (sorted by name) into `source`. The builder is spent afterwards.
  void finish(Source& source);

 private:
  void apply_time_base();
  void pair_marks();
  void sort_memory();
  void order_tracks();
  void nest_track(TrackId id, std::vector<std::int64_t>& trouble);
  void match_flows();
  void find_steps();

  Trace trace_;
  std::int64_t time_base_ns_ = 0;
  Column<std::int64_t> span_offsets_;
  Column<MarkRow> marks_;
  Column<FlowRow> flows_;
  Column<std::uint32_t> memory_by_track_;
  std::vector<std::uint32_t> memory_begin_;  // per track, into memory_by_track_; one more at the end
  std::vector<Trouble> trouble_;
  absl::flat_hash_map<StringId, CategoryId> category_ids_;
  absl::flat_hash_map<std::uint64_t, TrackId> track_ids_;
  absl::flat_hash_map<StringId, StringId> process_names_;
  absl::flat_hash_map<StringId, StackId> stack_ids_;
  absl::flat_hash_map<std::uint64_t, StackId> stack_nodes_;
  absl::flat_hash_map<std::uint64_t, std::size_t> counter_ids_;
  std::uint32_t last_device_ = 0;  // of the last memory event
};

}  // namespace vramscope
