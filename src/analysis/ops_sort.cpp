#include "analysis/ops_sort.h"

#include <algorithm>
#include <string>
#include <tuple>

namespace vramscope {

namespace {

struct Key {
  std::string_view name;
  OpColumn column;
};

constexpr Key kKeys[] = {
    {"name", OpColumn::name},
    {"count", OpColumn::count},
    {"cpu_time", OpColumn::cpu_time},
    {"cpu_time_total", OpColumn::cpu_time_total},
    {"self_cpu_time_total", OpColumn::self_cpu_time_total},
    {"cpu_memory_usage", OpColumn::cpu_memory_usage},
    {"self_cpu_memory_usage", OpColumn::self_cpu_memory_usage},
    {"device_time", OpColumn::device_time},
    {"device_time_total", OpColumn::device_time_total},
    {"self_device_time_total", OpColumn::self_device_time_total},
    {"device_memory_usage", OpColumn::device_memory_usage},
    {"self_device_memory_usage", OpColumn::self_device_memory_usage},
    {"flops", OpColumn::flops},
};

// Keys that name a kind of device in place of "device".
constexpr std::string_view kDevices[] = {"cuda", "xpu", "hip", "mtia", "privateuse1"};
constexpr std::string_view kListedDevices[] = {"cuda", "xpu"};

std::string for_device(std::string_view key, std::string_view device) {
  std::string named(key);
  const std::size_t at = named.find("device");
  return at == std::string::npos ? std::string() : named.replace(at, std::string_view("device").size(), device);
}

}  // namespace

std::optional<OpColumn> parse_sort_key(std::string_view wanted) {
  for (const Key& key : kKeys) {
    if (wanted == key.name) return key.column;
    for (const std::string_view device : kDevices) {
      if (!wanted.empty() && wanted == for_device(key.name, device)) return key.column;
    }
  }
  return std::nullopt;
}

std::vector<std::string_view> sort_keys() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Key& key : kKeys) {
      for (const std::string_view device : kListedDevices) {
        if (const std::string named = for_device(key.name, device); !named.empty()) all.push_back(named);
      }
      all.emplace_back(key.name);
    }
    return all;
  }();
  return {names.begin(), names.end()};
}

OpColumn default_sort(const OpTable& table) {
  return table.has_device_work ? OpColumn::self_device_time_total : OpColumn::self_cpu_time_total;
}

std::int64_t value_of(const OpRow& row, OpColumn column) {
  const OpTotals& totals = row.totals;
  const std::int64_t calls = std::max<std::int64_t>(totals.count, 1);
  switch (column) {
    case OpColumn::name:
      return 0;
    case OpColumn::count:
      return totals.count;
    case OpColumn::self_cpu_time_total:
      return totals.self_cpu_ns;
    case OpColumn::cpu_time_total:
      return totals.total_cpu_ns;
    case OpColumn::cpu_time:
      return totals.total_cpu_ns / calls;
    case OpColumn::self_device_time_total:
      return totals.self_device_ns;
    case OpColumn::device_time_total:
      return totals.total_device_ns;
    case OpColumn::device_time:
      return totals.total_device_ns / calls;
    case OpColumn::self_cpu_memory_usage:
      return totals.self_cpu_bytes;
    case OpColumn::cpu_memory_usage:
      return totals.total_cpu_bytes;
    case OpColumn::self_device_memory_usage:
      return totals.self_device_bytes;
    case OpColumn::device_memory_usage:
      return totals.total_device_bytes;
    case OpColumn::flops: {
      constexpr double kMost = 9e9;  // gigaflops that still fit an int64 of flops
      return static_cast<std::int64_t>(std::min(row.gigaflops.value_or(0), kMost) * 1e9);
    }
  }
  return 0;
}

void sort_rows(std::vector<OpRow>& rows, OpColumn column) {
  std::sort(rows.begin(), rows.end(), [&](const OpRow& a, const OpRow& b) {
    const std::int64_t left = value_of(a, column);
    const std::int64_t right = value_of(b, column);
    if (left != right) return left > right;
    return std::tie(a.name, a.step, a.kind, a.shapes, a.stack, a.annotation) <
           std::tie(b.name, b.step, b.kind, b.shapes, b.stack, b.annotation);
  });
}

}  // namespace vramscope
