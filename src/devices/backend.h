#pragma once
// A backend makes one kind of device visible. One .cpp in backends/ that defines `backend_<file name>()` is all it
// takes; the table below is generated from the files that are there.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/metric.h"

namespace vramscope {

enum class ProcessType : std::uint8_t { compute, graphics, compute_and_graphics };

// What /proc would say of a process. Only a backend whose processes do not exist on this machine fills it.
struct HostFacts {
  std::string user;
  std::string name;
  char state = 'R';  // as in /proc/PID/stat
  std::int64_t parent_pid = 0;
  std::int64_t start_ns = 0;  // on the clock of sample()'s time_ns
};

struct DeviceProcess {
  std::int64_t pid = 0;
  ProcessType type = ProcessType::compute;
  std::optional<std::int64_t> used_bytes;
  // Shares of the device's time since the sample before.
  std::optional<std::int64_t> sm_percent, memory_percent, encoder_percent, decoder_percent, jpeg_percent, ofa_percent;
  std::optional<std::int64_t> gpu_instance, compute_instance;  // under MIG
  std::optional<HostFacts> host;
  // What the caching allocator of the program (PyTorch's, say) has of the device, of that what tensors hold, and that
  // with what other streams still use. No driver knows it: the program itself must tell.
  std::optional<std::int64_t> allocator_reserved_bytes, allocator_allocated_bytes, allocator_active_bytes;
  bool is_mps = false;  // a client of NVIDIA's Multi-Process Service, whose server shares one context
  // What drivers of the kernel's DRM tell besides: memory of the machine that the device maps for it, what of
  // used_bytes lies in buffers that other processes share, and what had to leave the device's memory for lack of room.
  std::optional<std::int64_t> system_bytes, shared_bytes, evicted_bytes;
};

// What the allocator keeps and nobody uses; empty where it is not told, or the numbers contradict each other.
std::optional<std::int64_t> idle_cache_bytes(const DeviceProcess& process);

// A process, running or ended, that the driver keeps account of.
struct AccountedProcess {
  std::int64_t pid = 0;
  std::optional<std::int64_t> gpu_percent, memory_percent;  // of its lifetime
  std::optional<std::int64_t> max_memory_bytes;
  std::int64_t time_ms = 0;  // 0 while it runs
  bool is_running = false;
};

// A memory clock that can be set, with the graphics clocks that go with it; highest first.
struct SupportedClocks {
  std::int64_t memory_mhz = 0;
  std::vector<std::int64_t> graphics_mhz;
};

// Why a page of memory was given up; the numbers are NVML's (nvmlPageRetirementCause_t).
enum class RetirementCause : std::uint8_t { single_bit_errors = 0, double_bit_error = 1 };

// What the driver samples by itself, many times a second; the numbers are NVML's (nvmlSamplingType_t). Power in
// milliwatts, clocks in MHz, the others in percent.
enum class RecentKind : std::uint8_t {
  power = 0,
  gpu = 1,
  memory = 2,
  encoder = 3,
  decoder = 4,
  sm_clock = 5,
  memory_clock = 6,
  jpeg = 8,
  ofa = 9
};
struct RecentSamples {
  std::int64_t duration_us = 0;  // from the oldest to the newest
  std::int64_t count = 0, most = 0, least = 0, mean = 0;
};

// One GPU, or one MIG device of a GPU, at one moment.
struct DeviceSample {
  int index = 0;              // of the GPU; of a MIG device its number within its GPU
  std::optional<int> parent;  // of a MIG device: the place of its GPU in the list of samples
  std::optional<std::int64_t> gpu_instance, compute_instance;  // of a MIG device
  bool is_lost = false;  // it does not answer any more; values that cannot change are kept
  MetricValues values;
  // Of a GPU, those of its MIG devices too; a MIG device has none of its own, see DeviceProcess::gpu_instance.
  std::vector<DeviceProcess> processes;
  ValueState processes_state = ValueState::not_asked;
  // Processes of the machine of which nobody tells us whether they use this device; the list above may lack them.
  std::int64_t unreadable_processes = 0;

  std::string_view text(Metric metric) const { return values.text(metric); }
  std::optional<std::int64_t> number(Metric metric) const { return values.number(metric); }
};

// What a sample should hold. Identity (name, uuid, serial, pci.bus_id, index) is always there.
struct Wanted {
  MetricMask metrics;
  bool processes = false;            // pid, type, memory
  bool process_utilisation = false;  // their shares too
};
// What status, watch and top show: at most 12 calls of the driver a GPU.
Wanted live_wanted();

// An opened backend. Not for use by several threads at once.
class DeviceSource {
 public:
  virtual ~DeviceSource() = default;
  // All devices now. The list belongs to the source and is filled again by the next call. A device that fails
  // does not stop the others. `time_ns`: time since opening, never falling; a backend that plays something back
  // shows that moment, a real one ignores it. Metrics that are not wanted are not_asked, or an older value where
  // they cannot change.
  virtual const std::vector<DeviceSample>& sample(const Wanted& wanted, std::int64_t time_ns) = 0;
  // What the driver calls the process, with its path. An Error without driver_code: this backend cannot tell.
  virtual Result<std::string> process_name(std::int64_t pid);
  // The driver's account of processes on the device at `place` of sample()'s list; empty while accounting is off.
  virtual Result<std::vector<AccountedProcess>> accounted(std::size_t place);
  // What follows is asked for by a full query alone, of the GPU at `place`. An Error has the driver's code, 3 where
  // the device has no such list.
  virtual Result<std::vector<SupportedClocks>> supported_clocks(std::size_t place);
  virtual Result<std::vector<std::uint64_t>> retired_pages(std::size_t place, RetirementCause cause);
  virtual Result<RecentSamples> recent(std::size_t place, RecentKind kind);
};

struct Backend {
  const char* name;         // "nvml"; `--device nvml`
  const char* description;  // English msgid
  int priority;             // without --device the highest that opens is taken; negative: only by name
  // `argument`: what follows the colon in `--device sim:leak`, empty without. The Error is one sentence that says
  // what to do, with the driver's own code where there is one.
  Result<std::unique_ptr<DeviceSource>> (*open)(std::string_view argument);
  // The kernel's module behind it, where one shows that such devices are there although open() fails.
  const char* kernel_module = nullptr;
};

// Every backend, highest priority first.
const std::vector<Backend>& backends();
// `device`: "nvml", "sim:leak"; empty: the first that opens.
Result<std::unique_ptr<DeviceSource>> open_devices(std::string_view device);

// A backend that does not open although the kernel's module for its devices is loaded.
struct MissingBackend {
  const char* name;
  Error error;
};
struct OpenedDevices {
  std::unique_ptr<DeviceSource> source;
  std::vector<MissingBackend> missing;
};
// As open_devices(), but without a name all that open, joined to one list: in the order of their priority, GPUs
// numbered on, so that no index comes twice and those of the first are its own. `sys`: where sysfs is.
Result<OpenedDevices> open_all_devices(std::string_view device, const std::string& sys = "/sys");

}  // namespace vramscope
