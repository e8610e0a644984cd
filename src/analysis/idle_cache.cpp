#include "analysis/idle_cache.h"

#include <algorithm>

#include "analysis/memory_sums.h"
#include "analysis/process_series.h"
#include "analysis/segment_use.h"

namespace vramscope {

namespace {

// Messages print two decimals.
constexpr std::int64_t kPrintedSlackBytes = 11 << 20;
// Beside what the allocator reserves a process has a context, libraries and communication buffers of at most this.
constexpr std::int64_t kLargestContextBytes = std::int64_t{3} << 30;

std::int64_t value_of(const AllocatorStats& sample, const char* name) {
  const auto found = sample.values.find(name);
  return found == sample.values.end() ? kUnknown : found->second;
}

std::optional<ReservedMemory> of_snapshot(const Source& source, std::int32_t card) {
  if (!source.memory_state) return std::nullopt;
  for (const AllocatorDevice& device : source.memory_state->devices) {
    if (device.index != card || device.segments.empty()) continue;
    const SegmentUse use = measure_segments(device);
    return ReservedMemory{&source, use.reserved_bytes.all, use.active_bytes.all, use.free_segments_bytes};
  }
  return std::nullopt;
}

std::optional<ReservedMemory> of_samples(const Source& source, std::int32_t card) {
  for (auto sample = source.allocator_stats.rbegin(); sample != source.allocator_stats.rend(); ++sample) {
    if (sample->device != card) continue;
    const std::int64_t reserved = value_of(*sample, "reserved_bytes.all.current");
    std::int64_t used = value_of(*sample, "active_bytes.all.current");
    if (used == kUnknown) used = value_of(*sample, "allocated_bytes.all.current");
    if (reserved == kUnknown || used == kUnknown || used > reserved) continue;
    ReservedMemory memory{&source, reserved, used, std::nullopt};
    const std::int64_t split = value_of(*sample, "inactive_split_bytes.all.current");
    if (split != kUnknown) memory.returnable_bytes = std::max<std::int64_t>(0, subtract_bytes(reserved - used, split));
    return memory;
  }
  return std::nullopt;
}

bool is_near(std::int64_t a, std::int64_t b) {
  return size_of_bytes(subtract_bytes(a, b)) <= std::max(kPrintedSlackBytes, a / 100);
}

// The holder's file tells of the same failure.
bool has_failure(const Source& source, std::int64_t asked) {
  for (const OutOfMemory& event : source.out_of_memory) {
    if (event.asked_bytes && is_near(*event.asked_bytes, asked)) return true;
  }
  if (!source.memory_state) return false;
  for (const AllocatorDevice& device : source.memory_state->devices) {
    for (std::size_t i = 0; i < device.log.size(); ++i) {
      if (device.log.action[i] == AllocatorAction::oom && is_near(device.log.bytes[i], asked)) return true;
    }
  }
  return false;
}

bool is_one_process(const ReservedMemory& holder, const OutOfMemory& event, const AllocatorDevice* failed) {
  if (event.asked_bytes && has_failure(*holder.source, *event.asked_bytes)) return true;
  if (event.reserved_bytes && is_near(*event.reserved_bytes, holder.reserved_bytes)) return true;
  if (failed == nullptr || !holder.source->memory_state) return false;
  for (const AllocatorDevice& device : holder.source->memory_state->devices) {
    if (device.index != failed->index) continue;
    if (is_same_process(device, *failed) || is_same_process(*failed, device)) return true;
  }
  return false;
}

void find_sharing(const OutOfMemory& event, IdleCache& found) {
  const std::int64_t reserved = found.holder.reserved_bytes;
  if (!event.others.empty()) {
    for (const ProcessMemory& other : event.others) {
      const std::int64_t beside = subtract_bytes(other.bytes, reserved);
      if (beside < -kPrintedSlackBytes || beside > kLargestContextBytes) continue;
      found.sharing = Sharing::named;
      found.holder_context_bytes = std::max<std::int64_t>(beside, 0);
    }
    return;
  }
  if (!event.total_bytes || !event.free_bytes) {
    found.sharing = Sharing::not_known;
    return;
  }
  const std::optional<std::int64_t> own = event.process_bytes ? event.process_bytes : event.reserved_bytes;
  const std::int64_t elsewhere = subtract_bytes(subtract_bytes(*event.total_bytes, *event.free_bytes), own.value_or(0));
  found.sharing = add_bytes(elsewhere, kPrintedSlackBytes) >= reserved ? Sharing::room : Sharing::no;
}

}  // namespace

std::int64_t ReservedMemory::idle_bytes() const {
  return std::max<std::int64_t>(0, subtract_bytes(reserved_bytes, used_bytes));
}

std::vector<ReservedMemory> reserved_elsewhere(const Case& input, const Source* failed, std::int32_t card) {
  std::vector<ReservedMemory> all;
  for (const Source& source : input.sources) {
    if (&source == failed) continue;
    std::optional<ReservedMemory> memory = of_snapshot(source, card);
    if (!memory) memory = of_samples(source, card);
    if (memory) all.push_back(*memory);
  }
  return all;
}

IdleCache compare_processes(const ReservedMemory& holder, const OutOfMemory& event,
                            const AllocatorDevice* device_of_failed) {
  IdleCache found;
  found.holder = holder;
  if (is_one_process(holder, event, device_of_failed)) return found;
  find_sharing(event, found);
  if (event.process_bytes && event.reserved_bytes && *event.process_bytes >= *event.reserved_bytes) {
    found.failed_context_bytes = *event.process_bytes - *event.reserved_bytes;
  }
  if (event.total_bytes) {
    std::int64_t needed = add_bytes(holder.used_bytes, event.allocated_bytes.value_or(0));
    needed = add_bytes(needed, event.asked_bytes.value_or(0));
    needed = add_bytes(needed, found.holder_context_bytes.value_or(kAssumedContextBytes));
    needed = add_bytes(needed, found.failed_context_bytes.value_or(kAssumedContextBytes));
    found.would_fit = needed <= *event.total_bytes;
  }
  return found;
}

}  // namespace vramscope
