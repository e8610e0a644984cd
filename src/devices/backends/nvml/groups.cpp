#include "devices/backends/nvml/groups.h"

#include <limits>

namespace vramscope::nvml {

namespace {

std::int64_t signed_of(std::uint64_t number) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(number < kMost ? number : kMost);
}

const Groups& all_groups() {
  static const Groups groups = [] {
    Groups list;
    add_memory(list);
    add_activity(list);
    add_power(list);
    add_facts(list);
    add_modes(list);
    add_health(list);
    add_query(list);
    return list;
  }();
  return groups;
}

using M = Metric;
using F = Functions;

int memory(Reading& reading) {
  Handle const handle = reading.device.handle;
  MetricValues& values = reading.values;
  int code = kFunctionNotFound;
  if (reading.call.memory_v2 != nullptr) {
    Memory2 memory{};
    memory.version = version_of<Memory2>(2);
    code = reading.call.memory_v2(handle, &memory);
    if (code == kSuccess) {
      values.set(M::memory_total, signed_of(memory.total));
      values.set(M::memory_reserved, signed_of(memory.reserved));
      values.set(M::memory_used, signed_of(memory.used));
      values.set(M::memory_free, signed_of(memory.free));
      return code;
    }
  }
  const bool is_older = code == kFunctionNotFound || code == kNotSupported || code == kArgumentVersionMismatch;
  if (!is_older || reading.call.memory_v1 == nullptr) return code;
  Memory memory{};
  code = reading.call.memory_v1(handle, &memory);
  if (code == kSuccess) {
    values.set(M::memory_total, signed_of(memory.total));
    values.set(M::memory_used, signed_of(memory.used));
    values.set(M::memory_free, signed_of(memory.free));
    values.set_missing(M::memory_reserved, ValueState::not_supported, kFunctionNotFound);
  }
  return code;
}

int bar1(Reading& reading) {
  if (reading.call.bar1 == nullptr) return kFunctionNotFound;
  Bar1Memory memory{};
  const int code = reading.call.bar1(reading.device.handle, &memory);
  if (code == kSuccess) {
    reading.values.set(M::bar1_total, signed_of(memory.total));
    reading.values.set(M::bar1_used, signed_of(memory.used));
    reading.values.set(M::bar1_free, signed_of(memory.free));
  }
  return code;
}

int protected_memory(Reading& reading) {
  if (reading.call.protected_memory == nullptr) return kFunctionNotFound;
  Memory memory{};
  const int code = reading.call.protected_memory(reading.device.handle, &memory);
  if (code == kSuccess) {
    reading.values.set(M::protected_memory_total, signed_of(memory.total));
    reading.values.set(M::protected_memory_used, signed_of(memory.used));
    reading.values.set(M::protected_memory_free, signed_of(memory.free));
  }
  return code;
}

int utilization(Reading& reading) {
  if (reading.call.utilization == nullptr) return kFunctionNotFound;
  Utilization both{};
  const int code = reading.call.utilization(reading.device.handle, &both);
  if (code == kSuccess) {
    reading.values.set(M::utilization_gpu, both.gpu);
    reading.values.set(M::utilization_memory, both.memory);
  }
  return code;
}

int encoder_stats(Reading& reading) {
  if (reading.call.encoder_stats == nullptr) return kFunctionNotFound;
  unsigned sessions = 0;
  unsigned fps = 0;
  unsigned latency_us = 0;
  const int code = reading.call.encoder_stats(reading.device.handle, &sessions, &fps, &latency_us);
  if (code == kSuccess) {
    reading.values.set(M::encoder_stats_session_count, sessions);
    reading.values.set(M::encoder_stats_average_fps, fps);
    reading.values.set(M::encoder_stats_average_latency, latency_us);
  }
  return code;
}

// nvidia-smi's power.draw is the average of a second on Ampere and later but for GA100, else the power now. The fields
// come in one call with others; the function of its own is for drivers without them.
int power(Reading& reading) {
  MetricValues& values = reading.values;
  const M field = values.is_known(M::power_draw_average) && !reading.device.is_ga100 ? M::power_draw_average
                                                                                     : M::power_draw_instant;
  if (values.is_known(field)) {
    values.set(M::power_draw, values[field].number);
    return kSuccess;
  }
  return one<&F::power, M::power_draw>(reading);
}

int energy(Reading& reading) {
  if (reading.call.energy == nullptr) return kFunctionNotFound;
  unsigned long long millijoules = 0;
  const int code = reading.call.energy(reading.device.handle, &millijoules);
  if (code == kSuccess) reading.values.set(M::energy_total, signed_of(millijoules));
  return code;
}

struct Reason {
  std::uint64_t bit;
  Metric metric;
};
constexpr Reason kReasons[] = {
    {0x1, M::clocks_event_reasons_gpu_idle},
    {0x2, M::clocks_event_reasons_applications_clocks_setting},
    {0x4, M::clocks_event_reasons_sw_power_cap},
    {0x8, M::clocks_event_reasons_hw_slowdown},
    {0x10, M::clocks_event_reasons_sync_boost},
    {0x20, M::clocks_event_reasons_sw_thermal_slowdown},
    {0x40, M::clocks_event_reasons_hw_thermal_slowdown},
    {0x80, M::clocks_event_reasons_hw_power_brake_slowdown},
};

int reasons(Reading& reading) {
  if (reading.call.reasons == nullptr) return kFunctionNotFound;
  unsigned long long mask = 0;
  const int code = reading.call.reasons(reading.device.handle, &mask);
  if (code != kSuccess) return code;
  reading.values.set(M::clocks_event_reasons_active, signed_of(mask));
  for (const Reason& reason : kReasons) reading.values.set(reason.metric, (mask & reason.bit) != 0 ? 1 : 0);
  return code;
}

int pstate(Reading& reading) {
  const int code = one<&F::pstate, M::pstate>(reading);
  constexpr std::int64_t kLast = 15;  // 32 stands for a state that is not known
  if (code != kSuccess || reading.values[M::pstate].number <= kLast) return code;
  reading.values.set_missing(M::pstate, ValueState::not_supported);
  return kSuccess;
}

int supported_reasons(Reading& reading) {
  if (reading.call.supported_reasons == nullptr) return kFunctionNotFound;
  unsigned long long mask = 0;
  const int code = reading.call.supported_reasons(reading.device.handle, &mask);
  if (code == kSuccess) reading.values.set(M::clocks_event_reasons_supported, signed_of(mask));
  return code;
}

int margin(Reading& reading) {
  if (reading.call.margin == nullptr) return kFunctionNotFound;
  MarginTemperature margin{version_of<MarginTemperature>(1), 0};
  const int code = reading.call.margin(reading.device.handle, &margin);
  if (code == kSuccess) reading.values.set(M::temperature_gpu_tlimit, margin.margin);
  return code;
}

}  // namespace

void add_memory(Groups& groups) {
  groups.push_back(group<M::memory_total, M::memory_reserved, M::memory_used, M::memory_free>(memory, true));
  groups.push_back(group<M::bar1_total, M::bar1_used, M::bar1_free>(bar1, true));
  groups.push_back(
      group<M::protected_memory_total, M::protected_memory_used, M::protected_memory_free>(protected_memory));
}

void add_activity(Groups& groups) {
  groups.push_back(group<M::utilization_gpu, M::utilization_memory>(utilization));
  groups.push_back(group<M::utilization_encoder>(share<&F::encoder, M::utilization_encoder>));
  groups.push_back(group<M::utilization_decoder>(share<&F::decoder, M::utilization_decoder>));
  groups.push_back(group<M::utilization_jpeg>(share<&F::jpeg, M::utilization_jpeg>));
  groups.push_back(group<M::utilization_ofa>(share<&F::ofa, M::utilization_ofa>));
  groups.push_back(
      group<M::encoder_stats_session_count, M::encoder_stats_average_fps, M::encoder_stats_average_latency>(
          encoder_stats));
  groups.push_back(group<M::clocks_current_graphics>(of_kind<&F::clock, kGraphics, M::clocks_current_graphics>));
  groups.push_back(group<M::clocks_current_sm>(of_kind<&F::clock, kSm, M::clocks_current_sm>));
  groups.push_back(group<M::clocks_current_memory>(of_kind<&F::clock, kMemoryClock, M::clocks_current_memory>));
  groups.push_back(group<M::clocks_current_video>(of_kind<&F::clock, kVideo, M::clocks_current_video>));
  groups.push_back(group<M::pstate>(pstate));
  groups.push_back(group<M::clocks_event_reasons_active, M::clocks_event_reasons_gpu_idle,
                         M::clocks_event_reasons_applications_clocks_setting, M::clocks_event_reasons_sw_power_cap,
                         M::clocks_event_reasons_hw_slowdown, M::clocks_event_reasons_sync_boost,
                         M::clocks_event_reasons_sw_thermal_slowdown, M::clocks_event_reasons_hw_thermal_slowdown,
                         M::clocks_event_reasons_hw_power_brake_slowdown>(reasons));
  groups.push_back(group<M::clocks_event_reasons_supported>(supported_reasons));
  groups.push_back(group<M::pcie_link_gen_current>(one<&F::pcie_generation, M::pcie_link_gen_current>));
  groups.push_back(group<M::pcie_link_gen_gpucurrent>(one<&F::pcie_generation, M::pcie_link_gen_gpucurrent>));
  groups.push_back(group<M::pcie_link_width_current>(one<&F::pcie_width, M::pcie_link_width_current>));
  // In KB/s; the driver counts for 20 ms while the caller waits.
  groups.push_back(group<M::pcie_throughput_tx>(of_kind<&F::pcie_throughput, 0, M::pcie_throughput_tx, 1024>));
  groups.push_back(group<M::pcie_throughput_rx>(of_kind<&F::pcie_throughput, 1, M::pcie_throughput_rx, 1024>));
  groups.push_back(group<M::pcie_replays>(one<&F::pcie_replays, M::pcie_replays>));
}

void add_power(Groups& groups) {
  groups.push_back(group<M::temperature_gpu>(of_kind<&F::temperature, 0, M::temperature_gpu>));
  groups.push_back(group<M::temperature_gpu_tlimit>(margin));
  groups.push_back(group<M::temperature_shutdown>(of_kind<&F::temperature_threshold, 0, M::temperature_shutdown>));
  groups.push_back(group<M::temperature_slowdown>(of_kind<&F::temperature_threshold, 1, M::temperature_slowdown>));
  groups.push_back(group<M::temperature_memory_max>(of_kind<&F::temperature_threshold, 2, M::temperature_memory_max>));
  groups.push_back(group<M::temperature_gpu_max>(of_kind<&F::temperature_threshold, 3, M::temperature_gpu_max>));
  groups.push_back(group<M::fan_speed>(one<&F::fan, M::fan_speed>));
  groups.push_back(group<M::power_draw>(power));
  groups.push_back(group<M::power_limit>(one<&F::power_limit, M::power_limit>));
  groups.push_back(group<M::enforced_power_limit>(one<&F::enforced_limit, M::enforced_power_limit>));
  groups.push_back(group<M::power_default_limit>(one<&F::default_limit, M::power_default_limit>));
  groups.push_back(
      group<M::power_min_limit, M::power_max_limit>(two<&F::limit_range, M::power_min_limit, M::power_max_limit>));
  groups.push_back(group<M::energy_total>(energy));
}

void read_groups(Reading& reading) {
  Device& device = reading.device;
  MetricValues& values = reading.values;
  const Groups& groups = all_groups();
  for (std::size_t i = 0; i < groups.size() && !reading.is_lost; ++i) {
    const Group& group = groups[i];
    const MetricMask wanted = group.metrics & reading.wanted;
    if (wanted.none()) continue;
    bool is_needed = false;
    for (std::size_t at = wanted._Find_first(); at < kMetricCount; at = wanted._Find_next(at)) {
      const auto metric = static_cast<Metric>(at);
      const ValueState state = values[metric].state;
      // What cannot change is asked for once; what a field told is not asked for again.
      is_needed = is_needed ||
                  (info_of(metric).cost == Cost::once ? state == ValueState::not_asked : state != ValueState::known);
    }
    if (!is_needed) continue;
    int code = kNotSupported;
    if ((!device.is_mig || group.for_mig) && !device.unsupported.test(i)) {
      code = group.read(reading);
      if (code == kNotSupported || code == kFunctionNotFound) device.unsupported.set(i);
    }
    if (code == kSuccess) continue;
    for (std::size_t at = wanted._Find_first(); at < kMetricCount; at = wanted._Find_next(at)) {
      const auto metric = static_cast<Metric>(at);
      if (!values.is_known(metric)) set_failed(reading, metric, code);
    }
  }
}

}  // namespace vramscope::nvml
