#include "analysis/memory_curve.h"

#include <algorithm>

#include "analysis/memory_sums.h"

namespace vramscope {

namespace {

// Sums over ranges of a device's events in far fewer steps than there are events, so that steps which overlap
// each other by the thousand (a damaged file) stay cheap.
class RangeSums {
 public:
  struct Sum {
    std::int64_t highest = kSmallestSum;
    std::int64_t alloc_bytes = 0;
    std::int64_t free_bytes = 0;
    std::int64_t allocs = 0;
    std::int64_t frees = 0;

    void add(const Sum& other) {
      highest = std::max(highest, other.highest);
      alloc_bytes = add_bytes(alloc_bytes, other.alloc_bytes);
      free_bytes = add_bytes(free_bytes, other.free_bytes);
      allocs += other.allocs;
      frees += other.frees;
    }
  };

  RangeSums(const Trace& trace, const DeviceMemory& memory) : trace_(trace), memory_(memory) {
    for (std::size_t i = 0; i < memory.events.size(); i += kBlock) {
      blocks_.push_back(walk(i, std::min(i + kBlock, memory.events.size())));
    }
  }

  Sum over(std::size_t begin, std::size_t end) const {
    const std::size_t first_block = (begin + kBlock - 1) / kBlock;
    const std::size_t last_block = end / kBlock;
    if (first_block >= last_block) return walk(begin, end);
    Sum sum = walk(begin, first_block * kBlock);
    for (std::size_t i = first_block; i < last_block; ++i) sum.add(blocks_[i]);
    sum.add(walk(last_block * kBlock, end));
    return sum;
  }

 private:
  static constexpr std::size_t kBlock = 512;

  Sum walk(std::size_t begin, std::size_t end) const {
    Sum sum;
    for (std::size_t i = begin; i < end; ++i) {
      const std::int64_t bytes = trace_.memory.bytes[memory_.events[i]];
      sum.highest = std::max(sum.highest, memory_.allocated[i]);
      if (bytes > 0) {
        sum.alloc_bytes = add_bytes(sum.alloc_bytes, bytes);
        ++sum.allocs;
      } else if (bytes < 0) {
        sum.free_bytes = add_bytes(sum.free_bytes, size_of_bytes(bytes));
        ++sum.frees;
      }
    }
    return sum;
  }

  const Trace& trace_;
  const DeviceMemory& memory_;
  std::vector<Sum> blocks_;
};

void read_totals(const Trace& trace, DeviceMemory& memory) {
  const MemoryEvents& all = trace.memory;
  for (const std::uint32_t event : memory.events) {
    const std::int64_t allocated = all.total_allocated[event];
    const std::int64_t reserved = all.total_reserved[event];
    if (allocated == kUnknown) {
      ++memory.events_without_total;
    } else {
      memory.max_allocated_bytes = std::max(memory.max_allocated_bytes.value_or(allocated), allocated);
    }
    if (reserved != kUnknown) {
      memory.max_reserved_bytes = std::max(memory.max_reserved_bytes.value_or(reserved), reserved);
    }
    if (all.bytes[event] == 0) ++memory.zero_byte_events;
  }
  if (!memory.max_allocated_bytes) {
    memory.kind = CurveKind::relative;
  } else {
    memory.kind = memory.events_without_total == 0 ? CurveKind::written : CurveKind::partly_written;
  }
}

void draw_curve(const Trace& trace, DeviceMemory& memory) {
  const MemoryEvents& all = trace.memory;
  const std::size_t count = memory.events.size();
  memory.allocated.resize(count);
  // Up to the first written total the level is found backwards from it.
  std::size_t first = 0;
  while (first < count && all.total_allocated[memory.events[first]] == kUnknown) ++first;
  std::int64_t level = 0;
  if (first < count) {
    level = all.total_allocated[memory.events[first]];
    for (std::size_t i = first + 1; i-- > 0;) level = subtract_bytes(level, all.bytes[memory.events[i]]);
  }
  memory.begin_bytes = level;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t event = memory.events[i];
    const std::int64_t total = all.total_allocated[event];
    level = total != kUnknown ? total : add_bytes(level, all.bytes[event]);
    memory.allocated[i] = level;
    if (level > memory.allocated[memory.peak]) memory.peak = i;
    if (level < memory.allocated[memory.lowest]) memory.lowest = i;
  }
  memory.end_bytes = level;
}

void measure_steps(const Trace& trace, const RangeSums& sums, DeviceMemory& memory) {
  memory.steps.reserve(trace.steps.size());
  for (const Step& step : trace.steps) {
    const std::size_t begin = events_until(trace, memory, step.begin_ns, false);
    const std::size_t end = std::max(begin, events_until(trace, memory, step.end_ns, false));
    const RangeSums::Sum sum = sums.over(begin, end);
    StepMemory row;
    row.number = step.number;
    row.begin_ns = step.begin_ns;
    row.end_ns = step.end_ns;
    row.begin_bytes = memory.level_after(begin);
    row.end_bytes = memory.level_after(end);
    row.peak_bytes = std::max(row.begin_bytes, sum.highest);
    row.alloc_bytes = sum.alloc_bytes;
    row.free_bytes = sum.free_bytes;
    row.allocs = sum.allocs;
    row.frees = sum.frees;
    row.kept_bytes = subtract_bytes(row.end_bytes, row.begin_bytes);
    memory.steps.push_back(row);
  }
}

// Accelerators first: they are what people look for.
bool comes_first(const MemoryDevice& a, const MemoryDevice& b) {
  if (a.is_cpu() != b.is_cpu()) return b.is_cpu();
  if (a.type != b.type) return a.type < b.type;
  return a.index != b.index ? a.index < b.index : a.process < b.process;
}

}  // namespace

std::vector<DeviceMemory> device_memory(const Trace& trace, const MemoryPairs& pairs) {
  std::vector<DeviceMemory> devices(trace.memory_devices.size());
  for (std::uint32_t i = 0; i < devices.size(); ++i) {
    devices[i].device = i;
    devices[i].pairs = pairs.by_device[i];
  }
  for (std::uint32_t i = 0; i < trace.memory.size(); ++i) devices[trace.memory.device[i]].events.push_back(i);
  devices.erase(std::remove_if(devices.begin(), devices.end(), [](const DeviceMemory& d) { return d.events.empty(); }),
                devices.end());
  for (DeviceMemory& memory : devices) {
    read_totals(trace, memory);
    draw_curve(trace, memory);
    const RangeSums sums(trace, memory);
    const RangeSums::Sum whole = sums.over(0, memory.events.size());
    memory.alloc_bytes = whole.alloc_bytes;
    memory.free_bytes = whole.free_bytes;
    memory.allocs = whole.allocs;
    memory.frees = whole.frees;
    measure_steps(trace, sums, memory);
  }
  std::sort(devices.begin(), devices.end(), [&](const DeviceMemory& a, const DeviceMemory& b) {
    return comes_first(trace.memory_devices[a.device], trace.memory_devices[b.device]);
  });
  return devices;
}

std::size_t events_until(const Trace& trace, const DeviceMemory& memory, std::int64_t time_ns, bool at) {
  const std::uint32_t* const begin = memory.events.begin();
  const std::uint32_t* const end = memory.events.end();
  const std::uint32_t* found = std::partition_point(begin, end, [&](std::uint32_t event) {
    const std::int64_t time = trace.memory.time_ns[event];
    return at ? time <= time_ns : time < time_ns;
  });
  return static_cast<std::size_t>(found - begin);
}

std::uint32_t step_at(const Trace& trace, std::int64_t time_ns) {
  const std::vector<Step>& steps = trace.steps;
  auto after =
      std::partition_point(steps.begin(), steps.end(), [&](const Step& step) { return step.begin_ns <= time_ns; });
  constexpr int kMostOverlapping = 64;
  for (int i = 0; after != steps.begin() && i < kMostOverlapping; ++i) {
    --after;
    if (time_ns < after->end_ns) return static_cast<std::uint32_t>(after - steps.begin());
  }
  return kNone;
}

}  // namespace vramscope
