#pragma once
// One NVML device, a GPU or a MIG device, and what is remembered of it between samples.
#include <bitset>
#include <optional>
#include <string_view>
#include <vector>

#include "devices/backend.h"
#include "devices/backends/nvml/library.h"

namespace vramscope::nvml {

constexpr std::size_t kMostGroups = 160;

struct Device {
  Handle handle = nullptr;
  int open_code = kSuccess;  // of getting the handle
  bool is_mig = false;
  std::size_t sample = 0;  // its place in the list of samples
  std::optional<std::int64_t> gpu_instance;
  bool has_mig_mode = false;
  bool is_mig_on = false;
  bool is_ga100 = false;
  // Groups of functions that this device does not support; not called again until the list is made anew.
  std::bitset<kMostGroups> unsupported;
  unsigned long long last_process_time_us = 0;
  bool has_older_shares_alone = false;    // the newer function does not work here
  bool has_no_mps_list = false;           // not supported; not asked again until the list of devices is made anew
  unsigned samples_until_mps = 0;         // while no client was found: until the list is looked at whatever happens
  std::uint64_t compute_pids_before = 0;  // a fingerprint of the compute processes of the sample before
  GpmSample gpm_before = nullptr, gpm_now = nullptr;
  bool has_gpm_before = false;
  std::optional<bool> is_gpm_supported;
};

// What one call of sample() works with for one device.
struct Reading {
  const Functions& call;
  Device& device;
  MetricValues& values;
  const MetricMask& wanted;
  bool is_lost = false;  // a call said so; nothing more is asked
};

ValueState state_of(int code);
// Puts the state of a failed call on a metric; notes a lost GPU.
void set_failed(Reading& reading, Metric metric, int code);
inline bool wants(const Reading& reading, Metric metric) {
  return reading.wanted.test(index_of(metric));
}

// What one call of nvmlDeviceGetFieldValues gives. `room` is reused.
void read_fields(Reading& reading, std::vector<FieldValue>& room);
// Everything that has a function of its own and is not known yet.
void read_groups(Reading& reading);
// GPU performance monitoring, on Hopper and later: averages since the call before.
void read_gpm(Reading& reading, GpmMetrics& room);
void free_gpm(const Functions& call, Device& device);

// What share of a GPU's time a process had.
struct Share {
  unsigned pid;
  std::uint64_t time_us;
  unsigned sm, memory, encoder, decoder;
  std::optional<unsigned> jpeg, ofa;
};

// Buffers for the lists of processes, kept between samples.
struct ProcessRoom {
  std::vector<ProcessInfo2> infos;
  std::vector<ProcessInfo1> infos_v1;
  std::vector<ProcessSample> samples;
  std::vector<ProcessShares> shares;
  std::vector<Share> found;
  std::vector<DeviceProcess> clients;
};
// Fills sample.processes and processes_state.
void read_processes(Reading& reading, DeviceSample& sample, ProcessRoom& room, bool with_utilisation);
// The driver's code; `out` is what it keeps account of.
int read_accounted(const Functions& call, Handle device, std::vector<AccountedProcess>& out);

}  // namespace vramscope::nvml
