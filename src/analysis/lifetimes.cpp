#include "analysis/lifetimes.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "analysis/enclosing_ops.h"
#include "analysis/memory_curve.h"
#include "analysis/memory_pairs.h"
#include "analysis/memory_sums.h"

namespace vramscope {

namespace {

constexpr std::string_view kOutside = "[memory]";

class LifetimeFinder {
 public:
  LifetimeFinder(const Trace& trace, const DeviceFilter& filter)
      : trace_(trace), filter_(filter), enclosing_(enclosing_ops(trace)), pairs_(pair_memory(trace)) {}

  Lifetimes find() {
    const MemoryEvents& memory = trace_.memory;
    for (std::uint32_t event = 0; event < memory.size(); ++event) {
      if (!filter_.wants_memory(trace_.memory_devices[memory.device[event]])) continue;
      if (memory.bytes[event] == 0) continue;
      found_.has_memory = true;
      if (memory.address[event] == kUnknownAddress) {
        ++found_.events_without_address;
        continue;
      }
      found_.has_addresses = true;
      if (memory.bytes[event] > 0) {
        add_alloc(event);
      } else if (pairs_.partner[event] == kNone) {
        ++found_.frees_without_alloc;
        found_.frees_without_alloc_bytes =
            add_bytes(found_.frees_without_alloc_bytes, size_of_bytes(memory.bytes[event]));
      }
    }
    order();
    return std::move(found_);
  }

 private:
  SpanIndex op_span(std::uint32_t event) const { return op_of(trace_, enclosing_, trace_.memory.span[event]); }
  std::string_view op_name(std::uint32_t event) const {
    const SpanIndex span = op_span(event);
    return span == kNone ? kOutside : grouped_name(trace_.name(span));
  }

  void add_alloc(std::uint32_t event) {
    const std::pair<std::string_view, std::uint32_t> key = {op_name(event), trace_.memory.device[event]};
    const auto [slot, is_new] = rows_.try_emplace(key, found_.ops.size());
    if (is_new) {
      OpLifetime made;
      made.op = key.first;
      made.device = key.second;
      found_.ops.push_back(std::move(made));
      freed_by_.emplace_back();
    }
    OpLifetime& row = found_.ops[slot->second];
    const std::int64_t bytes = trace_.memory.bytes[event];
    ++row.allocs;
    row.alloc_bytes = add_bytes(row.alloc_bytes, bytes);
    std::int64_t& part = part_of(row, event);
    part = add_bytes(part, bytes);
    const std::uint32_t free = pairs_.partner[event];
    if (free == kNone || trace_.memory.bytes[free] > 0) return;
    std::int64_t& by = freed_by_[slot->second][op_name(free)];
    by = add_bytes(by, bytes);
  }

  std::int64_t& part_of(OpLifetime& row, std::uint32_t event) const {
    const MemoryEvents& memory = trace_.memory;
    const std::uint32_t free = pairs_.partner[event];
    if (free == kNone) return row.never_freed_bytes;
    if (memory.bytes[free] > 0) return row.free_not_seen_bytes;
    // The call is on one thread and nesting follows time, so "within" is a matter of thread and time.
    const SpanIndex span = op_span(event);
    if (span != kNone && memory.track[free] == memory.track[event] && memory.time_ns[free] < trace_.end_ns(span)) {
      return row.freed_same_op_bytes;
    }
    const std::uint32_t free_step = step_at(trace_, memory.time_ns[free]);
    if (free_step == kNone) return row.freed_outside_steps_bytes;
    return free_step == step_at(trace_, memory.time_ns[event]) ? row.freed_same_step_bytes : row.freed_later_step_bytes;
  }

  void order() {
    for (std::size_t i = 0; i < found_.ops.size(); ++i) {
      auto& by = found_.ops[i].freed_by;
      for (const auto& [name, bytes] : freed_by_[i]) by.emplace_back(name, bytes);
      std::sort(by.begin(), by.end(), [](const auto& a, const auto& b) {
        return a.second != b.second ? a.second > b.second : a.first < b.first;
      });
    }
    std::sort(found_.ops.begin(), found_.ops.end(), [](const OpLifetime& a, const OpLifetime& b) {
      if (a.alloc_bytes != b.alloc_bytes) return a.alloc_bytes > b.alloc_bytes;
      return a.op != b.op ? a.op < b.op : a.device < b.device;
    });
  }

  const Trace& trace_;
  const DeviceFilter& filter_;
  Column<SpanIndex> enclosing_;
  MemoryPairs pairs_;
  Lifetimes found_;
  absl::flat_hash_map<std::pair<std::string_view, std::uint32_t>, std::size_t> rows_;
  std::vector<absl::flat_hash_map<std::string_view, std::int64_t>> freed_by_;  // parallel to found_.ops
};

}  // namespace

Lifetimes find_lifetimes(const Trace& trace, const DeviceFilter& filter) {
  return LifetimeFinder(trace, filter).find();
}

}  // namespace vramscope
