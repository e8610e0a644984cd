// The functions. Those that hand out one number are one line each: the name and the script's key.
#include <cstdio>
#include <cstring>
#include <new>

#include "state.h"

// 1: old, 2: middle, 3: new; 0: half of a library.
#ifndef STAND_IN_SET
#define STAND_IN_SET 3
#endif

using stand_in::Device;
using stand_in::enter;
using stand_in::number;
using stand_in::state;

namespace {

constexpr int kNotSupported = 3;
[[maybe_unused]] constexpr int kInvalidArgument = 2;
[[maybe_unused]] constexpr int kNotFound = 6;
constexpr int kInsufficientSize = 7;
[[maybe_unused]] constexpr int kTimeout = 10;
[[maybe_unused]] constexpr int kVersionMismatch = 25;

[[maybe_unused]] int give(Device* device, const char* key, unsigned* out) {
  const auto value = number(*device, key);
  if (!value) return kNotSupported;
  *out = static_cast<unsigned>(*value);
  return 0;
}

[[maybe_unused]] int give_long(Device* device, const char* key, unsigned long long* out) {
  const auto value = number(*device, key);
  if (!value) return kNotSupported;
  *out = static_cast<unsigned long long>(*value);
  return 0;
}

int give_text(Device* device, const char* key, char* out, unsigned size) {
  const auto found = device->texts.find(key);
  if (found == device->texts.end()) return kNotSupported;
  if (found->second.size() + 1 > size) return kInsufficientSize;
  std::memcpy(out, found->second.c_str(), found->second.size() + 1);
  return 0;
}

[[maybe_unused]] int copy_out(const std::string& text, char* out, unsigned size) {
  if (text.size() + 1 > size) return kInsufficientSize;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return 0;
}

}  // namespace

#define ENTER(device) \
  if (const int entered = enter(__func__, device)) return entered
#define NUMBER(function, key)                              \
  extern "C" int function(Device* device, unsigned* out) { \
    ENTER(device);                                         \
    return give(device, key, out);                         \
  }
#define LONG_NUMBER(function, key)                                   \
  extern "C" int function(Device* device, unsigned long long* out) { \
    ENTER(device);                                                   \
    return give_long(device, key, out);                              \
  }
#define TWO_NUMBERS(function, first, second)                          \
  extern "C" int function(Device* device, unsigned* a, unsigned* b) { \
    ENTER(device);                                                    \
    const int code = give(device, first, a);                          \
    return code != 0 ? code : give(device, second, b);                \
  }
#define TEXT(function, key)                                           \
  extern "C" int function(Device* device, char* out, unsigned size) { \
    ENTER(device);                                                    \
    return give_text(device, key, out, size);                         \
  }
#define BY_KIND(function, prefix)                                      \
  extern "C" int function(Device* device, int kind, unsigned* out) {   \
    ENTER(device);                                                     \
    return give(device, (prefix + std::to_string(kind)).c_str(), out); \
  }

// For tests.
extern "C" long long stand_in_calls(const char* function) {
  const auto found = state().counts.find(function);
  return found == state().counts.end() ? 0 : found->second;
}
extern "C" long long stand_in_total() {
  long long sum = 0;
  for (const auto& entry : state().counts) sum += entry.second;
  return sum;
}
extern "C" void stand_in_add(const char* line) {
  stand_in::add(line);
}
extern "C" void stand_in_reset() {
  state().counts.clear();
}

namespace {
int start(const char* function) {
  stand_in::load();
  if (const int code = enter(function, nullptr); code > 1) return code;
  state().is_started = true;
  return 0;
}
int count_gpus(unsigned* out) {
  *out = static_cast<unsigned>(state().gpus.size());
  return 0;
}
int handle_of(const char* function, unsigned index, Device** out) {
  if (index >= state().gpus.size()) return kInvalidArgument;
  Device* const device = &state().gpus[index];
  if (const int code = enter(function, device)) return code;
  *out = device;
  return 0;
}
}  // namespace

extern "C" int nvmlInit() {
  return start(__func__);
}
extern "C" int nvmlDeviceGetCount(unsigned* out) {
  ENTER(nullptr);
  return count_gpus(out);
}
extern "C" int nvmlDeviceGetHandleByIndex(unsigned index, Device** out) {
  return handle_of(__func__, index, out);
}
extern "C" int nvmlShutdown() {
  ENTER(nullptr);
  stand_in::save_counts();
  state().is_started = false;
  return 0;
}
extern "C" const char* nvmlErrorString(int code) {
  return code == 0 ? "Success" : "Stand-in error";
}
TEXT(nvmlDeviceGetName, "name")

namespace {
struct Memory1 {
  unsigned long long total, free, used;
};
int memory_v1(Device* device, Memory1* out) {
  const auto total = number(*device, "memory.total");
  const auto used = number(*device, "memory.used");
  if (!total || !used) return kNotSupported;
  const long long reserved = number(*device, "memory.reserved").value_or(0);
  out->total = static_cast<unsigned long long>(*total);
  out->used = static_cast<unsigned long long>(*used + reserved);
  out->free = out->total - out->used;
  return 0;
}
}  // namespace
extern "C" int nvmlDeviceGetMemoryInfo(Device* device, Memory1* out) {
  ENTER(device);
  return memory_v1(device, out);
}

#if STAND_IN_SET >= 1
TEXT(nvmlDeviceGetUUID, "uuid")
TEXT(nvmlDeviceGetSerial, "serial")
TEXT(nvmlDeviceGetVbiosVersion, "vbios")
TEXT(nvmlDeviceGetInforomImageVersion, "inforom.img")
NUMBER(nvmlDeviceGetMinorNumber, "minor")
NUMBER(nvmlDeviceGetFanSpeed, "fan")
NUMBER(nvmlDeviceGetPowerUsage, "power")
NUMBER(nvmlDeviceGetPowerManagementLimit, "power.limit")
NUMBER(nvmlDeviceGetEnforcedPowerLimit, "power.enforced")
NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, "power.default")
NUMBER(nvmlDeviceGetPerformanceState, "pstate")
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, "pcie.gen")
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, "pcie.width")
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, "pcie.gen.max")
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, "pcie.width.max")
NUMBER(nvmlDeviceGetPcieReplayCounter, "pcie.replays")
NUMBER(nvmlDeviceGetComputeMode, "compute_mode")
NUMBER(nvmlDeviceGetPersistenceMode, "persistence")
NUMBER(nvmlDeviceGetDisplayMode, "display.mode")
NUMBER(nvmlDeviceGetDisplayActive, "display.active")
NUMBER(nvmlDeviceGetAccountingMode, "accounting")
NUMBER(nvmlDeviceGetAccountingBufferSize, "accounting.size")
NUMBER(nvmlDeviceGetRetiredPagesPendingStatus, "retired.pending")
TWO_NUMBERS(nvmlDeviceGetPowerManagementLimitConstraints, "power.min", "power.max")
TWO_NUMBERS(nvmlDeviceGetEccMode, "ecc.current", "ecc.pending")
TWO_NUMBERS(nvmlDeviceGetDriverModel, "driver_model.current", "driver_model.pending")
TWO_NUMBERS(nvmlDeviceGetGpuOperationMode, "gom.current", "gom.pending")
BY_KIND(nvmlDeviceGetTemperature, "temperature.")
BY_KIND(nvmlDeviceGetTemperatureThreshold, "threshold.")
BY_KIND(nvmlDeviceGetClockInfo, "clock.")
BY_KIND(nvmlDeviceGetMaxClockInfo, "clock.max.")
BY_KIND(nvmlDeviceGetPcieThroughput, "pcie.throughput.")
LONG_NUMBER(nvmlDeviceGetTotalEnergyConsumption, "energy")
LONG_NUMBER(nvmlDeviceGetCurrentClocksThrottleReasons, "reasons")
LONG_NUMBER(nvmlDeviceGetSupportedClocksThrottleReasons, "reasons.supported")

#define SHARE(function, key)                                                    \
  extern "C" int function(Device* device, unsigned* out, unsigned* period_us) { \
    ENTER(device);                                                              \
    *period_us = 167000;                                                        \
    return give(device, key, out);                                              \
  }
SHARE(nvmlDeviceGetEncoderUtilization, "encoder")
SHARE(nvmlDeviceGetDecoderUtilization, "decoder")

extern "C" int nvmlSystemGetDriverVersion(char* out, unsigned size) {
  ENTER(nullptr);
  return copy_out(state().driver, out, size);
}
// Also before nvmlInit, as the real one.
extern "C" int nvmlSystemGetNVMLVersion(char* out, unsigned size) {
  if (!state().is_started) stand_in::load();
  if (const int entered = enter(__func__, nullptr); entered > 1) return entered;
  return copy_out("13." + state().driver, out, size);
}
extern "C" int nvmlSystemGetProcessName(unsigned pid, char* out, unsigned size) {
  ENTER(nullptr);
  const auto found = state().names.find(pid);
  if (found == state().names.end()) return kNotFound;
  std::snprintf(out, size, "%s", found->second.c_str());
  return found->second.size() < size ? 0 : kInsufficientSize;
}
extern "C" int nvmlSystemGetCudaDriverVersion(int* out) {
  ENTER(nullptr);
  *out = state().cuda;
  return 0;
}
extern "C" int nvmlDeviceGetInforomVersion(Device* device, int object, char* out, unsigned size) {
  ENTER(device);
  return give_text(device, ("inforom." + std::to_string(object)).c_str(), out, size);
}
extern "C" int nvmlDeviceValidateInforom(Device* device) {
  ENTER(device);
  return 0;
}

struct UtilizationRates {
  unsigned gpu, memory;
};
extern "C" int nvmlDeviceGetUtilizationRates(Device* device, UtilizationRates* out) {
  ENTER(device);
  const int code = give(device, "utilization.gpu", &out->gpu);
  return code != 0 ? code : give(device, "utilization.memory", &out->memory);
}
extern "C" int nvmlDeviceGetCudaComputeCapability(Device* device, int* major, int* minor) {
  ENTER(device);
  const auto value = number(*device, "compute_cap");  // 90 is 9.0
  if (!value) return kNotSupported;
  *major = static_cast<int>(*value / 10);
  *minor = static_cast<int>(*value % 10);
  return 0;
}

struct Bar1 {
  unsigned long long total, free, used;
};
extern "C" int nvmlDeviceGetBAR1MemoryInfo(Device* device, Bar1* out) {
  ENTER(device);
  const int code = give_long(device, "bar1.total", &out->total);
  if (code != 0) return code;
  out->used = static_cast<unsigned long long>(number(*device, "bar1.used").value_or(0));
  out->free = out->total - out->used;
  return 0;
}
extern "C" int nvmlDeviceGetEncoderStats(Device* device, unsigned* sessions, unsigned* fps, unsigned* latency) {
  ENTER(device);
  const int code = give(device, "encoder.sessions", sessions);
  if (code != 0) return code;
  *fps = static_cast<unsigned>(number(*device, "encoder.fps").value_or(0));
  *latency = static_cast<unsigned>(number(*device, "encoder.latency").value_or(0));
  return 0;
}
extern "C" int nvmlDeviceGetTotalEccErrors(Device* device, int type, int counter, unsigned long long* out) {
  ENTER(device);
  return give_long(device, ("ecc." + std::to_string(type) + "." + std::to_string(counter)).c_str(), out);
}
extern "C" int nvmlDeviceGetMemoryErrorCounter(Device* device, int type, int counter, int where,
                                               unsigned long long* out) {
  ENTER(device);
  const std::string key = "ecc." + std::to_string(type) + "." + std::to_string(counter) + "." + std::to_string(where);
  return give_long(device, key.c_str(), out);
}
extern "C" int nvmlDeviceGetRetiredPages(Device* device, int cause, unsigned* count, unsigned long long* addresses) {
  ENTER(device);
  unsigned pages = 0;
  const int code = give(device, ("retired." + std::to_string(cause)).c_str(), &pages);
  if (code != 0) return code;
  const bool has_room = addresses != nullptr && *count >= pages;
  *count = pages;
  if (!has_room) return pages == 0 ? 0 : kInsufficientSize;
  for (unsigned i = 0; i < pages; ++i) addresses[i] = 0x1000ULL * (i + 1);
  return 0;
}

// The first version ends after the device id and a reserved word.
struct PciOld {
  char bus_id[16];
  unsigned domain, bus, device, id, subsystem, reserved[4];
};
namespace {
void fill_pci(Device& device, PciOld& out) {
  out.domain = static_cast<unsigned>(number(device, "pci.domain").value_or(0));
  out.bus = static_cast<unsigned>(number(device, "pci.bus").value_or(0));
  out.device = static_cast<unsigned>(number(device, "pci.device").value_or(0));
  out.id = static_cast<unsigned>(number(device, "pci.id").value_or(0));
  out.subsystem = static_cast<unsigned>(number(device, "pci.subsystem").value_or(0));
  std::snprintf(out.bus_id, sizeof out.bus_id, "%04X:%02X:%02X.0", out.domain & 0xFFFF, out.bus & 0xFF,
                out.device & 0xFF);
}
}  // namespace
extern "C" int nvmlDeviceGetPciInfo(Device* device, PciOld* out) {
  ENTER(device);
  fill_pci(*device, *out);
  return 0;
}

struct ProcessOld {
  unsigned pid;
  unsigned long long used;
};
namespace {
template <typename Entry, typename Fill>
int list_processes(Device& device, char type, unsigned* count, Entry* out, Fill fill) {
  unsigned total = 0;
  for (auto& process : device.processes) {
    if (process.type != type) continue;
    if (total < *count && out != nullptr) {
      auto now = process;
      if (now.used != ~0ULL) now.used += static_cast<unsigned long long>(process.sway.next());
      fill(out[total], now);
    }
    ++total;
  }
  const bool has_room = total <= *count && (out != nullptr || total == 0);
  *count = total;
  return has_room ? 0 : kInsufficientSize;
}
void fill_old(ProcessOld& out, const stand_in::Process& process) {
  out = {process.pid, process.used};
}
}  // namespace
extern "C" int nvmlDeviceGetComputeRunningProcesses(Device* device, unsigned* count, ProcessOld* out) {
  ENTER(device);
  return list_processes(*device, 'C', count, out, fill_old);
}
extern "C" int nvmlDeviceGetGraphicsRunningProcesses(Device* device, unsigned* count, ProcessOld* out) {
  ENTER(device);
  return list_processes(*device, 'G', count, out, fill_old);
}

extern "C" int nvmlDeviceGetMPSComputeRunningProcesses(Device* device, unsigned* count, ProcessOld* out) {
  ENTER(device);
  return list_processes(*device, 'M', count, out, fill_old);
}

extern "C" int nvmlDeviceGetAccountingPids(Device* device, unsigned* count, unsigned* out) {
  ENTER(device);
  const auto total = static_cast<unsigned>(device->accounted.size());
  const bool has_room = *count >= total && out != nullptr;
  *count = total;
  if (!has_room && total > 0) return kInsufficientSize;
  for (unsigned i = 0; i < total; ++i) out[i] = device->accounted[i].pid;
  return 0;
}
struct Stats {
  unsigned gpu, memory;
  unsigned long long max_memory, time_ms, start_us;
  unsigned is_running, reserved[5];
};
static_assert(sizeof(Stats) == 56);
extern "C" int nvmlDeviceGetAccountingStats(Device* device, unsigned pid, Stats* out) {
  ENTER(device);
  for (const auto& entry : device->accounted) {
    if (entry.pid != pid) continue;
    *out = {entry.gpu, entry.memory, entry.max_memory, entry.time_ms, 1, entry.is_running, {}};
    return 0;
  }
  return kNotFound;
}

struct ShareSample {
  unsigned pid;
  unsigned long long time_us;
  unsigned sm, memory, encoder, decoder;
};
extern "C" int nvmlDeviceGetProcessUtilization(Device* device, ShareSample* out, unsigned* count,
                                               unsigned long long since) {
  ENTER(device);
  if (device->shares.empty()) return kNotFound;
  const auto total = static_cast<unsigned>(device->shares.size());
  if (out == nullptr || *count < total) {
    *count = total;
    return kInsufficientSize;
  }
  const unsigned long long now = ++state().clock_us;
  if (now <= since) return kNotFound;
  for (unsigned i = 0; i < total; ++i) {
    const auto& share = device->shares[i];
    out[i] = {share.pid, now, share.sm, share.memory, share.encoder, share.decoder};
  }
  *count = total;
  return 0;
}

struct Event {
  Device* device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};
static int the_event_set;
extern "C" int nvmlEventSetCreate(void** out) {
  ENTER(nullptr);
  *out = &the_event_set;
  return 0;
}
extern "C" int nvmlEventSetFree(void*) {
  ENTER(nullptr);
  return 0;
}
extern "C" int nvmlDeviceRegisterEvents(Device* device, unsigned long long, void*) {
  ENTER(device);
  return 0;
}
extern "C" int nvmlEventSetWait_v2(void*, Event* out, unsigned) {
  ENTER(nullptr);
  for (Device& gpu : state().gpus) {
    if (gpu.xids.empty()) continue;
    *out = {&gpu, 8, static_cast<unsigned long long>(gpu.xids.front()), 0xFFFFFFFF, 0xFFFFFFFF};
    gpu.xids.erase(gpu.xids.begin());
    return 0;
  }
  return kTimeout;
}
#endif  // STAND_IN_SET >= 1

#if STAND_IN_SET >= 2
#include "newer.inc"
#endif
#if STAND_IN_SET >= 3
#include "newest.inc"
#include "query.inc"
#endif
