#pragma once
// The one table of metrics: what a device can tell, by which names others know it, and how a value is kept.
// smi, alerts, Prometheus, the backends, replay and the import of CSV all read this table (metric_list.h).
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace vramscope {

enum class Metric : std::uint16_t {
#define VRAMSCOPE_METRIC(id, name, aliases, unit, kind, print, missing, cost, dcgm) id,
#include "model/metric_list.h"
#undef VRAMSCOPE_METRIC
};

// The base unit of MetricValue::number.
enum class MetricUnit : std::uint8_t {
  text,  // no number
  bytes,
  bytes_per_second,
  percent,
  milliwatts,
  millijoules,
  megahertz,
  celsius,
  milliseconds,
  microseconds,
  count,
  flag,    // 0 or 1
  choice,  // a small number with words; `print` has them
  mask     // bits
};
enum class MetricKind : std::uint8_t { gauge, counter };  // a counter only rises, until the driver is loaded again

// How nvidia-smi writes a value; `none`: it has no such field in --query-gpu.
enum class SmiPrint : std::uint8_t {
  none,
  text,
  integer,
  mebibytes,
  percent,
  percent2,  // with two decimals
  watts,
  megahertz,
  milliseconds,
  microseconds,
  hex,    // 0x3
  hex2,   // 0x0C
  hex4,   // 0x0000
  hex8,   // 0x1E8110DE
  hex16,  // 0x0000000000000004
  enabled,
  active,
  yes_no,
  true_false,
  pstate,
  compute_mode,
  operation_mode,
  addressing,
  recovery,
  fabric_state,
  health,
  peer_type,
  // In `nvidia-smi -q` alone:
  celsius,
  lanes,               // 16x
  kibibytes_a_second,  // 839 KB/s; the number is bytes a second
  banks,
  tight_percent,  // 100.00%
  hex_lower,      // 0xc00
  hex16_lower,
  bare_hex,  // as hex, hex2, hex4 and hex8 without the 0x
  bare_hex2,
  bare_hex4,
  bare_hex8,
  on_off,
  lower_enabled,
  virtualization,
  host_vgpu,
  atomics,
  moment,     // microseconds since 1970, as a local time
  deprecated  // a name that still exists, and a fixed sentence in place of a value
};
enum class SmiMissing : std::uint8_t { bracketed, plain };  // "[N/A]" or "N/A"

enum class Cost : std::uint8_t {
  once,   // does not change while the driver is loaded: fetched when first asked for
  cheap,  // may be asked for at every sample
  costly  // the driver blocks or counts for it: only when somebody asked for it by name
};

struct MetricInfo {
  Metric id;
  std::string_view name;     // ours, and nvidia-smi's where it has one: "memory.used"
  std::string_view aliases;  // nvidia-smi's further names, parted by '|'
  MetricUnit unit;
  MetricKind kind;
  SmiPrint print;
  SmiMissing missing;
  Cost cost;
  std::string_view dcgm;  // "DCGM_FI_DEV_FB_USED"; empty where there is none
};

#define VRAMSCOPE_METRIC(id, name, aliases, unit, kind, print, missing, cost, dcgm) +1
inline constexpr std::size_t kMetricCount = 0
#include "model/metric_list.h"
    ;
#undef VRAMSCOPE_METRIC

#define VRAMSCOPE_METRIC(id, name, aliases, unit, kind, print, missing, cost, dcgm) \
  +(MetricUnit::unit == MetricUnit::text ? 1 : 0)
inline constexpr std::size_t kTextMetricCount = 0
#include "model/metric_list.h"
    ;
#undef VRAMSCOPE_METRIC

// In the order of metric_list.h, which is also the order of Metric.
const std::array<MetricInfo, kMetricCount>& metric_table();
const MetricInfo& info_of(Metric metric);
// By name or alias of nvidia-smi, whole and in its case; nullopt for a name that is not in the table.
std::optional<Metric> metric_named(std::string_view name);

// Which metrics are meant.
using MetricMask = std::bitset<kMetricCount>;
inline std::size_t index_of(Metric metric) {
  return static_cast<std::size_t>(metric);
}
MetricMask mask_of(std::initializer_list<Metric> metrics);

enum class ValueState : std::uint8_t {
  not_asked,
  known,
  not_supported,  // the device or the driver has no such value
  no_permission,
  failed,  // `number` holds the driver's error code
  lost     // the device does not answer any more
};

struct MetricValue {
  std::int64_t number = 0;  // in the metric's unit; meaningful when known
  ValueState state = ValueState::not_asked;
};

// A value for every metric. Texts keep their capacity, so that filling it again allocates nothing.
class MetricValues {
 public:
  const MetricValue& operator[](Metric metric) const { return values_[index_of(metric)]; }
  // The number when it is known.
  std::optional<std::int64_t> number(Metric metric) const;
  // The text when it is known, else empty. Only for metrics with MetricUnit::text.
  std::string_view text(Metric metric) const;

  void set(Metric metric, std::int64_t number) { values_[index_of(metric)] = {number, ValueState::known}; }
  void set_text(Metric metric, std::string_view text);
  // Any state but known; `code`: the driver's error code.
  void set_missing(Metric metric, ValueState state, int code = 0) { values_[index_of(metric)] = {code, state}; }
  bool is_known(Metric metric) const { return values_[index_of(metric)].state == ValueState::known; }

 private:
  std::array<MetricValue, kMetricCount> values_{};
  std::array<std::string, kTextMetricCount> texts_;
};

}  // namespace vramscope
