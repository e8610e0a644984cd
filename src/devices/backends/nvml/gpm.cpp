// GPU performance monitoring: nvmlGpm* in nvml.h (see abi.h). Two samples of the hardware's counters give the averages
// of the time between them.
#include <cmath>

#include "devices/backends/nvml/device.h"

namespace vramscope::nvml {

namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;

struct Gpm {
  unsigned id;
  Metric metric;
  double times = 1;  // percent stays, MiB/s becomes bytes/s
};

using M = Metric;
constexpr Gpm kMetrics[] = {
    {1, M::gpm_graphics_active},       {2, M::gpm_sm_active},
    {3, M::gpm_sm_occupancy},          {5, M::gpm_tensor_active},
    {10, M::gpm_dram_active},          {11, M::gpm_fp64_active},
    {12, M::gpm_fp32_active},          {13, M::gpm_fp16_active},
    {20, M::gpm_pcie_tx, kMebibyte},   {21, M::gpm_pcie_rx, kMebibyte},
    {60, M::gpm_nvlink_rx, kMebibyte}, {61, M::gpm_nvlink_tx, kMebibyte},
};

void fail_all(Reading& reading, int code) {
  for (const Gpm& gpm : kMetrics) {
    if (wants(reading, gpm.metric)) set_failed(reading, gpm.metric, code);
  }
}

bool has_functions(const Functions& call) {
  return call.gpm_support != nullptr && call.gpm_alloc != nullptr && call.gpm_free != nullptr &&
         call.gpm_sample != nullptr && call.gpm_metrics != nullptr;
}

int prepare(Reading& reading) {
  Device& device = reading.device;
  const Functions& call = reading.call;
  if (!has_functions(call) || (device.is_mig && call.gpm_mig_sample == nullptr)) return kFunctionNotFound;
  if (!device.is_gpm_supported) {
    GpmSupport support{1, 0};  // NVML_GPM_SUPPORT_VERSION
    const int code = call.gpm_support(device.handle, &support);
    if (code != kSuccess && code != kNotSupported) return code;
    device.is_gpm_supported = code == kSuccess && support.is_supported != 0;
  }
  if (!*device.is_gpm_supported) return kNotSupported;
  for (GpmSample* sample : {&device.gpm_before, &device.gpm_now}) {
    if (*sample != nullptr) continue;
    const int code = call.gpm_alloc(sample);
    if (code != kSuccess) return code;
  }
  return kSuccess;
}

int take_sample(Reading& reading) {
  const Device& device = reading.device;
  if (!device.is_mig) return reading.call.gpm_sample(device.handle, device.gpm_now);
  return reading.call.gpm_mig_sample(device.handle, static_cast<unsigned>(device.gpu_instance.value_or(0)),
                                     device.gpm_now);
}

void put_all(Reading& reading, const GpmMetrics& room) {
  for (unsigned i = 0; i < room.count; ++i) {
    const GpmMetric& got = room.metrics[i];
    const Gpm& gpm = kMetrics[i];
    if (!wants(reading, gpm.metric)) continue;
    const double number = got.value * gpm.times;
    if (got.code != kSuccess) {
      set_failed(reading, gpm.metric, got.code);
    } else if (!std::isfinite(number) || std::fabs(number) > 9e18) {
      set_failed(reading, gpm.metric, kNoData);
    } else {
      reading.values.set(gpm.metric, static_cast<std::int64_t>(std::llround(number)));
    }
  }
}

}  // namespace

void read_gpm(Reading& reading, GpmMetrics& room) {
  bool is_wanted = false;
  for (const Gpm& gpm : kMetrics) is_wanted = is_wanted || wants(reading, gpm.metric);
  if (!is_wanted) return;
  int code = prepare(reading);
  if (code == kSuccess) code = take_sample(reading);
  if (code != kSuccess) return fail_all(reading, code);
  Device& device = reading.device;
  if (device.has_gpm_before) {
    room.version = 1;  // NVML_GPM_METRICS_GET_VERSION
    room.count = static_cast<unsigned>(std::size(kMetrics));
    room.before = device.gpm_before;
    room.now = device.gpm_now;
    for (unsigned i = 0; i < room.count; ++i) room.metrics[i] = {kMetrics[i].id, kNoData, 0, {}, {}, {}};
    code = reading.call.gpm_metrics(&room);
  } else {
    code = kNoData;  // there is no time between samples yet
  }
  if (code == kSuccess) {
    put_all(reading, room);
  } else {
    fail_all(reading, code);
  }
  std::swap(device.gpm_before, device.gpm_now);
  device.has_gpm_before = true;
}

void free_gpm(const Functions& call, Device& device) {
  for (GpmSample* sample : {&device.gpm_before, &device.gpm_now}) {
    if (*sample != nullptr && call.gpm_free != nullptr) call.gpm_free(*sample);
    *sample = nullptr;
  }
  device.has_gpm_before = false;
}

}  // namespace vramscope::nvml
