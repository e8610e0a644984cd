#include "analysis/device_load.h"

#include <algorithm>

#include "base/saturate.h"

namespace vramscope {

std::int64_t union_ns(std::vector<std::pair<std::int64_t, std::int64_t>>& intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::int64_t total = 0;
  std::int64_t covered_until = std::numeric_limits<std::int64_t>::min();
  for (const auto& [begin, end] : intervals) {
    const std::int64_t from = std::max(begin, covered_until);
    if (end <= from) continue;
    total = saturating_add(total, saturating_sub(end, from));
    covered_until = end;
  }
  return total;
}

std::vector<DeviceLoad> device_loads(const Source& source) {
  const Trace& trace = source.trace;
  std::map<std::int32_t, DeviceLoad> loads;
  std::map<std::int32_t, std::vector<std::pair<std::int64_t, std::int64_t>>> work;
  for (SpanIndex i = 0; i < trace.spans.size(); ++i) {
    const SpanKind kind = trace.kind(i);
    if (!is_device_work(kind)) continue;
    const std::int32_t device = trace.device_of(i);
    DeviceLoad& load = loads[device];
    work[device].emplace_back(trace.spans.start_ns[i], trace.end_ns(i));
    if (kind == SpanKind::kernel) {
      ++load.kernels;
      load.kernel_ns = saturating_add(load.kernel_ns, trace.spans.duration_ns[i]);
    } else if (kind == SpanKind::memcpy) {
      const DeviceArgs* args = trace.device_args_of(i);
      if (args != nullptr && args->bytes > 0) load.memcpy_bytes = saturating_add(load.memcpy_bytes, args->bytes);
    }
  }
  for (auto& [device, intervals] : work) {
    DeviceLoad& load = loads[device];
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    for (const auto& [begin, end] : intervals) {
      first = std::min(first, begin);
      last = std::max(last, end);
    }
    load.span_ns = saturating_sub(last, first);
    load.busy_ns = union_ns(intervals);
  }
  for (const DeviceInfo& info : source.environment.devices) {
    DeviceLoad& load = loads[info.id];
    load.name = info.name;
    load.is_listed = true;
  }
  std::vector<DeviceLoad> result;
  for (auto& [device, load] : loads) {
    load.id = device;
    result.push_back(std::move(load));
  }
  return result;
}

}  // namespace vramscope
