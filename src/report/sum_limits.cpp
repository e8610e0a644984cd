#include "report/sum_limits.h"

#include <algorithm>
#include <limits>

namespace vramscope {

namespace {

// Sums of bytes stop one short of the smallest number, which means "unknown" in columns.
bool is_clamped(std::int64_t sum) {
  using Limits = std::numeric_limits<std::int64_t>;
  return sum == Limits::max() || sum <= -Limits::max();
}

std::int64_t count_clamped(std::initializer_list<std::int64_t> sums) {
  return std::count_if(sums.begin(), sums.end(), is_clamped);
}

// Whether sums of these events can get that far at all: saves the measuring in every sane file.
bool may_clamp(const MemoryEvents& memory) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() / (static_cast<std::int64_t>(memory.size()) + 2);
  const auto is_large = [&](std::int64_t bytes) { return bytes != kUnknown && (bytes > most || bytes < -most); };
  return std::any_of(memory.bytes.begin(), memory.bytes.end(), is_large) ||
         std::any_of(memory.total_allocated.begin(), memory.total_allocated.end(), is_large);
}

}  // namespace

std::int64_t clamped_sums(const OpsResult& result) {
  std::int64_t count = count_clamped({result.table.self_cpu_ns, result.table.device_ns});
  for (const OpRow& row : result.table.rows) {
    const OpTotals& totals = row.totals;
    count += count_clamped({totals.self_cpu_ns, totals.total_cpu_ns, totals.self_device_ns, totals.total_device_ns,
                            totals.self_cpu_bytes, totals.total_cpu_bytes, totals.self_device_bytes,
                            totals.total_device_bytes});
  }
  return count;
}

std::int64_t clamped_sums(const Source& source, const DeviceFilter& filter) {
  if (!may_clamp(source.trace.memory)) return 0;
  const SourceMemory memory = measure_memory(source, filter);
  std::int64_t count = 0;
  for (const DeviceMemory& device : memory.devices) {
    count += count_clamped({device.alloc_bytes, device.free_bytes, device.begin_bytes, device.end_bytes});
    if (is_clamped(device.peak_bytes())) ++count;
  }
  return count;
}

void note_clamped_sums(Source& source, std::int64_t count) {
  if (count == 0) return;
  const auto place = std::find_if(source.trouble.begin(), source.trouble.end(),
                                  [](const Trouble& trouble) { return trouble.name >= kSumOutOfRange; });
  source.trouble.insert(place, Trouble{kSumOutOfRange, count, 0});
}

}  // namespace vramscope
