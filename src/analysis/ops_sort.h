#pragma once
// The order of the operator table, by the keys that PyTorch's `sort_by` knows.
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/ops.h"

namespace vramscope {

enum class OpColumn : std::uint8_t {
  name,
  count,
  self_cpu_time_total,
  cpu_time_total,
  cpu_time,  // average of a call
  self_device_time_total,
  device_time_total,
  device_time,  // average of a call
  self_cpu_memory_usage,
  cpu_memory_usage,
  self_device_memory_usage,
  device_memory_usage,
  flops,
};

// "self_cuda_memory_usage" and its like; cuda, xpu and other device names all mean the device. nullopt: unknown.
std::optional<OpColumn> parse_sort_key(std::string_view key);
// What may be given, for messages.
std::vector<std::string_view> sort_keys();
// What PyTorch's users ask first: device time where there is any, else CPU time.
OpColumn default_sort(const OpTable& table);

// The number that a column shows, nanoseconds, bytes or calls; averages are cut to whole nanoseconds.
std::int64_t value_of(const OpRow& row, OpColumn column);
// Highest first, equals by name; names in ascending order.
void sort_rows(std::vector<OpRow>& rows, OpColumn column);

}  // namespace vramscope
