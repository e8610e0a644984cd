#include "model/metric.h"

#include "absl/container/flat_hash_map.h"

namespace vramscope {

namespace {

constexpr std::array<MetricInfo, kMetricCount> kTable = {{
#define VRAMSCOPE_METRIC(id, name, aliases, unit, kind, print, missing, cost, dcgm)               \
  {Metric::id,          name,       aliases, MetricUnit::unit, MetricKind::kind, SmiPrint::print, \
   SmiMissing::missing, Cost::cost, dcgm},
#include "model/metric_list.h"
#undef VRAMSCOPE_METRIC
}};

// Where a text metric's text lies in MetricValues.
constexpr auto kTextSlot = [] {
  std::array<std::uint8_t, kMetricCount> slots{};
  std::uint8_t next = 0;
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    slots[i] = next;
    if (kTable[i].unit == MetricUnit::text) ++next;
  }
  return slots;
}();

absl::flat_hash_map<std::string_view, Metric> names() {
  absl::flat_hash_map<std::string_view, Metric> map;
  for (const MetricInfo& info : kTable) {
    map.emplace(info.name, info.id);
    std::string_view rest = info.aliases;
    while (!rest.empty()) {
      const std::size_t end = rest.find('|');
      map.emplace(rest.substr(0, end), info.id);
      rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    }
  }
  return map;
}

}  // namespace

const std::array<MetricInfo, kMetricCount>& metric_table() {
  return kTable;
}

const MetricInfo& info_of(Metric metric) {
  return kTable[index_of(metric)];
}

std::optional<Metric> metric_named(std::string_view name) {
  static const absl::flat_hash_map<std::string_view, Metric> map = names();
  const auto found = map.find(name);
  if (found == map.end()) return std::nullopt;
  return found->second;
}

MetricMask mask_of(std::initializer_list<Metric> metrics) {
  MetricMask mask;
  for (const Metric metric : metrics) mask.set(index_of(metric));
  return mask;
}

std::optional<std::int64_t> MetricValues::number(Metric metric) const {
  const MetricValue& value = (*this)[metric];
  if (value.state != ValueState::known) return std::nullopt;
  return value.number;
}

std::string_view MetricValues::text(Metric metric) const {
  if (!is_known(metric) || info_of(metric).unit != MetricUnit::text) return {};
  return texts_[kTextSlot[index_of(metric)]];
}

void MetricValues::set_text(Metric metric, std::string_view text) {
  if (info_of(metric).unit != MetricUnit::text) return;
  texts_[kTextSlot[index_of(metric)]].assign(text);
  set(metric, 0);
}

}  // namespace vramscope
