#pragma once
// Metrics that have a function of their own: which function tells which metrics.
#include <vector>

#include "devices/backends/nvml/device.h"

namespace vramscope::nvml {

struct Group {
  MetricMask metrics;
  bool for_mig;           // MIG devices have it too
  int (*read)(Reading&);  // sets what it got; its code is put on those that are wanted and not known then
};

using Groups = std::vector<Group>;

template <Metric... metrics>
Group group(int (*read)(Reading&), bool for_mig = false) {
  return {mask_of({metrics...}), for_mig, read};
}

// One unsigned number from one function.
template <auto function, Metric metric, std::int64_t times = 1>
int one(Reading& reading) {
  const auto call = reading.call.*function;
  if (call == nullptr) return kFunctionNotFound;
  unsigned value = 0;
  const int code = call(reading.device.handle, &value);
  if (code == kSuccess) reading.values.set(metric, std::int64_t{value} * times);
  return code;
}

// Two unsigned numbers from one function.
template <auto function, Metric first, Metric second>
int two(Reading& reading) {
  const auto call = reading.call.*function;
  if (call == nullptr) return kFunctionNotFound;
  unsigned a = 0;
  unsigned b = 0;
  const int code = call(reading.device.handle, &a, &b);
  if (code == kSuccess) {
    reading.values.set(first, a);
    reading.values.set(second, b);
  }
  return code;
}

// A percentage with the period it was measured over.
template <auto function, Metric metric>
int share(Reading& reading) {
  const auto call = reading.call.*function;
  if (call == nullptr) return kFunctionNotFound;
  unsigned value = 0;
  unsigned period_us = 0;
  const int code = call(reading.device.handle, &value, &period_us);
  if (code == kSuccess) reading.values.set(metric, value);
  return code;
}

// One unsigned number for one kind: a clock, a threshold.
template <auto function, int kind, Metric metric, std::int64_t times = 1>
int of_kind(Reading& reading) {
  const auto call = reading.call.*function;
  if (call == nullptr) return kFunctionNotFound;
  unsigned value = 0;
  const int code = call(reading.device.handle, kind, &value);
  if (code == kSuccess) reading.values.set(metric, std::int64_t{value} * times);
  return code;
}

template <auto function, Metric metric>
int text(Reading& reading) {
  const auto call = reading.call.*function;
  if (call == nullptr) return kFunctionNotFound;
  char room[96] = {};
  const int code = call(reading.device.handle, room, static_cast<unsigned>(sizeof room - 1));
  if (code == kSuccess) reading.values.set_text(metric, room);
  return code;
}

// pcie.link.gen.hostmax, from the kernel's tree of PCI devices.
int host_port_generation(Reading& reading);

void add_memory(Groups& groups);
void add_activity(Groups& groups);
void add_power(Groups& groups);
void add_facts(Groups& groups);
void add_modes(Groups& groups);
void add_health(Groups& groups);
void add_query(Groups& groups);  // what only a full query asks for

}  // namespace vramscope::nvml
