// Values that NVML hands out many at a time. Numbers, scopes and units of the fields: NVML_FI_* in nvml.h (see abi.h).
#include <cmath>
#include <limits>

#include "devices/backends/nvml/device.h"

namespace vramscope::nvml {

namespace {

constexpr unsigned kModule = 1;       // NVML_POWER_SCOPE_MODULE
constexpr unsigned kMemoryScope = 2;  // NVML_POWER_SCOPE_MEMORY
constexpr unsigned kAllLinks = std::numeric_limits<unsigned>::max();

struct Field {
  unsigned id, scope;
  Metric metric;
  std::int64_t times = 1, per = 1;  // from NVML's unit to ours
};

using M = Metric;
constexpr Field kFields[] = {
    {3, 0, M::ecc_errors_corrected_volatile_total},
    {4, 0, M::ecc_errors_uncorrected_volatile_total},
    {5, 0, M::ecc_errors_corrected_aggregate_total},
    {6, 0, M::ecc_errors_uncorrected_aggregate_total},
    {7, 0, M::ecc_errors_corrected_volatile_l1_cache},
    {8, 0, M::ecc_errors_uncorrected_volatile_l1_cache},
    {9, 0, M::ecc_errors_corrected_volatile_l2_cache},
    {10, 0, M::ecc_errors_uncorrected_volatile_l2_cache},
    {11, 0, M::ecc_errors_corrected_volatile_device_memory},
    {12, 0, M::ecc_errors_uncorrected_volatile_device_memory},
    {11, 0, M::ecc_errors_corrected_volatile_dram},
    {12, 0, M::ecc_errors_uncorrected_volatile_dram},
    {13, 0, M::ecc_errors_corrected_volatile_register_file},
    {14, 0, M::ecc_errors_uncorrected_volatile_register_file},
    {15, 0, M::ecc_errors_corrected_volatile_texture_memory},
    {16, 0, M::ecc_errors_uncorrected_volatile_texture_memory},
    {17, 0, M::ecc_errors_uncorrected_volatile_cbu},
    {18, 0, M::ecc_errors_corrected_aggregate_l1_cache},
    {19, 0, M::ecc_errors_uncorrected_aggregate_l1_cache},
    {20, 0, M::ecc_errors_corrected_aggregate_l2_cache},
    {21, 0, M::ecc_errors_uncorrected_aggregate_l2_cache},
    {22, 0, M::ecc_errors_corrected_aggregate_device_memory},
    {23, 0, M::ecc_errors_uncorrected_aggregate_device_memory},
    {22, 0, M::ecc_errors_corrected_aggregate_dram},
    {23, 0, M::ecc_errors_uncorrected_aggregate_dram},
    {24, 0, M::ecc_errors_corrected_aggregate_register_file},
    {25, 0, M::ecc_errors_uncorrected_aggregate_register_file},
    {26, 0, M::ecc_errors_corrected_aggregate_texture_memory},
    {27, 0, M::ecc_errors_uncorrected_aggregate_texture_memory},
    {28, 0, M::ecc_errors_uncorrected_aggregate_cbu},
    {29, 0, M::retired_pages_single_bit_ecc_count},
    {30, 0, M::retired_pages_double_bit_count},
    {31, 0, M::retired_pages_pending},
    {38, 0, M::nvlink_errors_crc},
    {52, 0, M::nvlink_errors_replay},
    {59, 0, M::nvlink_errors_recovery},
    {74, 0, M::clocks_event_reasons_counters_sw_power_cap, 1, 1000},
    {76, 0, M::clocks_event_reasons_counters_sync_boost, 1, 1000},
    {82, 0, M::temperature_memory},
    {83, 0, M::energy_total},
    {91, 0, M::nvlink_links},
    {94, 0, M::pcie_replays},
    {95, 0, M::pcie_replay_rollovers},
    {138, kAllLinks, M::nvlink_tx, 1024},
    {139, kAllLinks, M::nvlink_rx, 1024},
    {142, 0, M::remapped_rows_correctable},
    {143, 0, M::remapped_rows_uncorrectable},
    {144, 0, M::remapped_rows_pending},
    {145, 0, M::remapped_rows_failure},
    {185, 0, M::power_draw_average},
    {186, 0, M::power_draw_instant},
    {190, 0, M::enforced_power_limit},
    {192, 0, M::power_limit},
    {185, kModule, M::module_power_draw_average},
    {186, kModule, M::module_power_draw_instant},
    {187, kModule, M::module_power_min_limit},
    {188, kModule, M::module_power_max_limit},
    {189, kModule, M::module_power_default_limit},
    {190, kModule, M::module_enforced_power_limit},
    {192, kModule, M::module_power_limit},
    {185, kMemoryScope, M::power_draw_memory},
    {186, kMemoryScope, M::power_draw_memory_instant},
    {193, 0, M::temperature_shutdown_tlimit},
    {194, 0, M::temperature_slowdown_tlimit},
    {195, 0, M::temperature_memory_max_tlimit},
    {196, 0, M::temperature_gpu_max_tlimit},
    {228, 0, M::pcie_atomics_outbound},
    {229, 0, M::pcie_atomics_inbound},
    {230, 0, M::gpu_recovery_action},
    {269, 0, M::clocks_event_reasons_counters_sw_thermal_slowdown, 1, 1000},
    {270, 0, M::clocks_event_reasons_counters_hw_thermal_slowdown, 1, 1000},
    {271, 0, M::clocks_event_reasons_counters_hw_power_brake_slowdown, 1, 1000},
    {274, 0, M::edpp_multiplier},
    {301, 0, M::remapped_rows_correctable_inactive},
    {302, 0, M::remapped_rows_uncorrectable_inactive},
};

// power.draw is one of two fields, see power() in groups.cpp.
bool is_wanted(const Reading& reading, Metric metric) {
  if (wants(reading, metric)) return true;
  return wants(reading, M::power_draw) && (metric == M::power_draw_average || metric == M::power_draw_instant);
}

std::optional<std::int64_t> from_unsigned(unsigned long long number) {
  if (number > static_cast<unsigned long long>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::optional<std::int64_t> number_of(const FieldValue& value) {
  switch (value.type) {
    case 0:
      if (!std::isfinite(value.value.as_double) || std::fabs(value.value.as_double) > 9e18) return std::nullopt;
      return static_cast<std::int64_t>(std::llround(value.value.as_double));
    case 1:
      return value.value.as_unsigned;
    case 2:
      return from_unsigned(value.value.as_unsigned_long);
    case 3:
      return from_unsigned(value.value.as_unsigned_long_long);
    case 4:
      return value.value.as_long_long;
    case 5:
      return value.value.as_int;
    case 6:
      return value.value.as_unsigned_short;
    default:
      return std::nullopt;
  }
}

void put(Reading& reading, const Field& field, const FieldValue& value) {
  if (value.code != kSuccess) {
    set_failed(reading, field.metric, value.code);
    return;
  }
  std::optional<std::int64_t> number = number_of(value);
  // Degrees below a limit are negative, and may come as an unsigned number of 32 bits.
  const bool is_wrapped = number && *number > std::numeric_limits<std::int32_t>::max();
  if (is_wrapped && info_of(field.metric).unit == MetricUnit::celsius) number = *number - (std::int64_t{1} << 32);
  std::int64_t scaled = 0;
  if (!number || __builtin_mul_overflow(*number, field.times, &scaled)) {
    set_failed(reading, field.metric, kUnknown);
    return;
  }
  reading.values.set(field.metric, scaled / field.per);
}

}  // namespace

void read_fields(Reading& reading, std::vector<FieldValue>& room) {
  room.clear();
  for (const Field& field : kFields) {
    if (!is_wanted(reading, field.metric)) continue;
    FieldValue value{};
    value.field = field.id;
    value.scope = field.scope;
    value.code = kNotSupported;  // an entry that the driver does not touch is none of its values
    room.push_back(value);
  }
  if (room.empty()) return;
  const bool is_there = reading.call.field_values != nullptr;
  const int code = is_there
                       ? reading.call.field_values(reading.device.handle, static_cast<int>(room.size()), room.data())
                       : static_cast<int>(kFunctionNotFound);
  std::size_t at = 0;
  for (const Field& field : kFields) {
    if (!is_wanted(reading, field.metric)) continue;
    if (code == kSuccess) {
      put(reading, field, room[at]);
    } else {
      set_failed(reading, field.metric, code);
    }
    ++at;
  }
}

}  // namespace vramscope::nvml
