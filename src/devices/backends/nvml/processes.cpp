// The processes on a GPU: two lists, and samples of their shares.
#include <algorithm>

#include "devices/backends/nvml/device.h"

namespace vramscope::nvml {

namespace {

constexpr std::size_t kFirstRoom = 64;
constexpr unsigned kMostEntries = 65536;
constexpr std::uint64_t kUnknownBytes = ~std::uint64_t{0};  // NVML_VALUE_NOT_AVAILABLE
constexpr unsigned kNoInstance = 0xFFFFFFFF;
constexpr unsigned kMostPercent = 100;

// Calls until the list fits: the driver says how much room it needs. Processes may start in between.
template <typename Entry, typename Call>
int fetch(std::vector<Entry>& room, unsigned& count, Call call) {
  if (room.size() < kFirstRoom) room.resize(kFirstRoom);
  int code = kInsufficientSize;
  for (int attempt = 0; attempt < 4 && code == kInsufficientSize; ++attempt) {
    count = static_cast<unsigned>(room.size());
    code = call(&count, room.data());
    if (code == kInsufficientSize) {
      room.resize(std::min<std::size_t>(std::max<std::size_t>(std::size_t{count} + 16, room.size() * 2), kMostEntries));
    }
  }
  count = std::min(count, static_cast<unsigned>(room.size()));
  return code;
}

DeviceProcess process_of(unsigned pid, std::uint64_t used, ProcessType type) {
  DeviceProcess process;
  process.pid = pid;
  process.type = type;
  if (used != kUnknownBytes && used >> 63 == 0) process.used_bytes = static_cast<std::int64_t>(used);
  return process;
}

bool is_same(const DeviceProcess& a, const DeviceProcess& b) {
  return a.pid == b.pid && a.gpu_instance == b.gpu_instance && a.compute_instance == b.compute_instance;
}

// A process may be in both lists, with the same memory.
void add(std::vector<DeviceProcess>& processes, std::size_t others, DeviceProcess process) {
  const auto end = processes.begin() + static_cast<std::ptrdiff_t>(others);
  const auto found = std::find_if(processes.begin(), end, [&](const DeviceProcess& p) { return is_same(p, process); });
  if (found == end) {
    processes.push_back(std::move(process));
    return;
  }
  found->type = ProcessType::compute_and_graphics;
  if (!found->used_bytes) found->used_bytes = process.used_bytes;
}

using ListV2 = int (*)(Handle, unsigned*, ProcessInfo2*);
using ListV1 = int (*)(Handle, unsigned*, ProcessInfo1*);

int read_v2(Reading& reading, ListV2 list, ProcessType type, std::vector<DeviceProcess>& out, ProcessRoom& room) {
  unsigned count = 0;
  const int code = fetch(room.infos, count,
                         [&](unsigned* size, ProcessInfo2* infos) { return list(reading.device.handle, size, infos); });
  if (code != kSuccess) return code;
  const std::size_t others = out.size();
  for (unsigned i = 0; i < count; ++i) {
    const ProcessInfo2& info = room.infos[i];
    DeviceProcess process = process_of(info.pid, info.used, type);
    if (info.gpu_instance != kNoInstance && reading.device.is_mig_on) process.gpu_instance = info.gpu_instance;
    if (info.compute_instance != kNoInstance && reading.device.is_mig_on) {
      process.compute_instance = info.compute_instance;
    }
    add(out, others, std::move(process));
  }
  return kSuccess;
}

int read_v1(Reading& reading, ListV1 list, ProcessType type, std::vector<DeviceProcess>& out, ProcessRoom& room) {
  unsigned count = 0;
  const int code = fetch(room.infos_v1, count,
                         [&](unsigned* size, ProcessInfo1* infos) { return list(reading.device.handle, size, infos); });
  if (code != kSuccess) return code;
  const std::size_t others = out.size();
  for (unsigned i = 0; i < count; ++i) {
    add(out, others, process_of(room.infos_v1[i].pid, room.infos_v1[i].used, type));
  }
  return kSuccess;
}

// A newer library before an older driver has the symbol but not the function.
int read_list(Reading& reading, ListV2 v3, ListV2 v2, ListV1 v1, ProcessType type, std::vector<DeviceProcess>& out,
              ProcessRoom& room) {
  int code = kFunctionNotFound;
  if (v3 != nullptr) code = read_v2(reading, v3, type, out, room);
  if (code == kFunctionNotFound && v2 != nullptr) code = read_v2(reading, v2, type, out, room);
  if (code == kFunctionNotFound && v1 != nullptr) code = read_v1(reading, v1, type, out, room);
  return code;
}

std::optional<std::int64_t> percent(unsigned value) {
  if (value > kMostPercent) return std::nullopt;
  return value;
}

void put_share(std::vector<DeviceProcess>& processes, const Share& share) {
  for (DeviceProcess& process : processes) {
    if (process.pid != share.pid) continue;
    process.sm_percent = percent(share.sm);
    process.memory_percent = percent(share.memory);
    process.encoder_percent = percent(share.encoder);
    process.decoder_percent = percent(share.decoder);
    if (share.jpeg) process.jpeg_percent = percent(*share.jpeg);
    if (share.ofa) process.ofa_percent = percent(*share.ofa);
  }
}

// With the JPEG and optical flow engines, since driver 550.
int read_newer_shares(Reading& reading, ProcessRoom& room, std::vector<Share>& out) {
  if (reading.call.processes_shares == nullptr) return kFunctionNotFound;
  unsigned count = 0;
  const int code = fetch(room.shares, count, [&](unsigned* size, ProcessShares* entries) {
    ProcessesShares list{version_of<ProcessesShares>(1), *size, reading.device.last_process_time_us, entries};
    const int result = reading.call.processes_shares(reading.device.handle, &list);
    *size = list.count;
    return result;
  });
  if (code != kSuccess) return code;
  for (unsigned i = 0; i < count; ++i) {
    const ProcessShares& entry = room.shares[i];
    out.push_back(
        {entry.pid, entry.time_us, entry.sm, entry.memory, entry.encoder, entry.decoder, entry.jpeg, entry.ofa});
  }
  return code;
}

int read_older_shares(Reading& reading, ProcessRoom& room, std::vector<Share>& out) {
  if (reading.call.process_utilization == nullptr) return kFunctionNotFound;
  unsigned count = 0;
  const int code = fetch(room.samples, count, [&](unsigned* size, ProcessSample* samples) {
    return reading.call.process_utilization(reading.device.handle, samples, size, reading.device.last_process_time_us);
  });
  if (code != kSuccess) return code;
  for (unsigned i = 0; i < count; ++i) {
    const ProcessSample& entry = room.samples[i];
    out.push_back({entry.pid, entry.time_us, entry.sm, entry.memory, entry.encoder, entry.decoder, {}, {}});
  }
  return code;
}

// The newest sample of each process since the ones that were read before.
void read_shares(Reading& reading, std::vector<DeviceProcess>& processes, ProcessRoom& room) {
  Device& device = reading.device;
  if (device.is_mig_on || processes.empty()) return;
  std::vector<Share>& found = room.found;
  found.clear();
  int code = kFunctionNotFound;
  if (!device.has_older_shares_alone) {
    code = read_newer_shares(reading, room, found);
    device.has_older_shares_alone =
        code == kFunctionNotFound || code == kNotSupported || code == kArgumentVersionMismatch;
  }
  if (device.has_older_shares_alone) code = read_older_shares(reading, room, found);
  if (code == kGpuIsLost) reading.is_lost = true;
  if (code != kSuccess) return;
  std::stable_sort(found.begin(), found.end(), [](const Share& a, const Share& b) { return a.time_us < b.time_us; });
  for (const Share& share : found) {
    device.last_process_time_us = std::max<unsigned long long>(device.last_process_time_us, share.time_us);
    put_share(processes, share);
  }
}

// Equal for equal sets of pids, whatever their order.
std::uint64_t fingerprint(const std::vector<DeviceProcess>& processes) {
  std::uint64_t sum = processes.size();
  for (const DeviceProcess& process : processes) {
    const std::uint64_t mixed = (static_cast<std::uint64_t>(process.pid) + 1) * 0x9E3779B97F4A7C15U;
    sum += mixed ^ (mixed >> 29);
  }
  return sum;
}

// A machine without the Multi-Process Service shall not pay a call a sample for it. A server that starts, and clients
// that are on the list of compute processes too, change that list: while there are no clients, the list of clients is
// looked at when that one changed, and every kSamplesBetweenLooks samples for what does not show there.
bool is_mps_due(Device& device, const std::vector<DeviceProcess>& compute) {
  constexpr unsigned kSamplesBetweenLooks = 60;
  const std::uint64_t now = fingerprint(compute);
  const bool is_same_as_before = now == device.compute_pids_before;
  device.compute_pids_before = now;
  if (device.has_no_mps_list) return false;
  if (is_same_as_before && device.samples_until_mps > 0) {
    --device.samples_until_mps;
    return false;
  }
  device.samples_until_mps = kSamplesBetweenLooks;
  return true;
}

// Clients of the Multi-Process Service are on a list of their own, and may be on that of compute processes too: then
// they are one process.
void read_mps(Reading& reading, DeviceSample& sample, ProcessRoom& room) {
  Device& device = reading.device;
  if (!is_mps_due(device, sample.processes)) return;
  const Functions& call = reading.call;
  std::vector<DeviceProcess>& clients = room.clients;
  clients.clear();
  const int code = read_list(reading, call.mps_v3, call.mps_v2, call.mps_v1, ProcessType::compute, clients, room);
  if (code == kGpuIsLost) reading.is_lost = true;
  device.has_no_mps_list = code == kFunctionNotFound || code == kNotSupported;
  if (!clients.empty()) device.samples_until_mps = 0;
  for (DeviceProcess& client : clients) {
    client.is_mps = true;
    const auto found = std::find_if(sample.processes.begin(), sample.processes.end(),
                                    [&](const DeviceProcess& p) { return is_same(p, client); });
    if (found == sample.processes.end()) {
      sample.processes.push_back(client);
    } else {
      found->is_mps = true;
      if (!found->used_bytes) found->used_bytes = client.used_bytes;
    }
  }
}

}  // namespace

void read_processes(Reading& reading, DeviceSample& sample, ProcessRoom& room, bool with_utilisation) {
  const Functions& call = reading.call;
  std::vector<DeviceProcess>& processes = sample.processes;
  const int code =
      read_list(reading, call.compute_v3, call.compute_v2, call.compute_v1, ProcessType::compute, processes, room);
  if (code == kGpuIsLost) reading.is_lost = true;
  sample.processes_state = code == kSuccess ? ValueState::known : state_of(code);
  if (!reading.is_lost) read_mps(reading, sample, room);
  if (reading.is_lost) return;
  const int graphics_code =
      read_list(reading, call.graphics_v3, call.graphics_v2, call.graphics_v1, ProcessType::graphics, processes, room);
  if (graphics_code == kGpuIsLost) reading.is_lost = true;
  // One list is enough to know something where the card or the library does not have the other. One that was refused,
  // or failed, may hold whoever has the memory.
  const bool has_no_compute_list = sample.processes_state == ValueState::not_supported;
  if (graphics_code == kSuccess && has_no_compute_list) sample.processes_state = ValueState::known;
  if (with_utilisation && !reading.is_lost) read_shares(reading, processes, room);
}

}  // namespace vramscope::nvml
