// NVIDIA's GPUs through NVML, the library that the driver brings along and that nvidia-smi uses.
#include <string>

#include "backend_table.h"
#include "devices/backends/nvml/device.h"
#include "devices/backends/nvml/lists.h"
#include "fmt/format.h"
#include "text/catalogue.h"

namespace vramscope {

namespace nvml {

ValueState state_of(int code) {
  switch (code) {
    case kSuccess:
      return ValueState::known;
    case kNotSupported:
    case kFunctionNotFound:
    case kArgumentVersionMismatch:
    case kDeprecated:
      return ValueState::not_supported;
    case kNoPermission:
      return ValueState::no_permission;
    case kGpuIsLost:
      return ValueState::lost;
    default:
      return ValueState::failed;
  }
}

void set_failed(Reading& reading, Metric metric, int code) {
  if (code == kGpuIsLost) reading.is_lost = true;
  reading.values.set_missing(metric, state_of(code), code);
}

namespace {

constexpr unsigned kMostGpus = 256;
constexpr unsigned kMostMigDevices = 64;
// MIG devices come and go only when a GPU is idle, and functions rarely begin to work: both are looked at anew then.
constexpr std::uint64_t kSamplesBetweenLooks = 600;

class Source : public DeviceSource {
 public:
  explicit Source(std::unique_ptr<Library> library) : library_(std::move(library)), call_(library_->call) {}
  ~Source() override;

  Result<bool> start();
  const std::vector<DeviceSample>& sample(const Wanted& wanted, std::int64_t time_ns) override;
  Result<std::string> process_name(std::int64_t pid) override;
  Result<std::vector<AccountedProcess>> accounted(std::size_t place) override;
  Result<std::vector<SupportedClocks>> supported_clocks(std::size_t place) override;
  Result<std::vector<std::uint64_t>> retired_pages(std::size_t place, RetirementCause cause) override;
  Result<RecentSamples> recent(std::size_t place, RecentKind kind) override;

 private:
  template <typename List, typename Read>
  Result<List> list_of(std::size_t place, Read read);
  void list_devices();
  void list_mig_devices(std::size_t gpu_sample, const Device& gpu);
  int open_gpu(int index, Handle& handle);
  void look_anew();
  void add(Device device, DeviceSample sample);
  void watch_events();
  void read_events();
  void read(Device& device, const Wanted& wanted);
  void finish(Device& device, DeviceSample& sample, const MetricMask& wanted, bool is_lost);
  void free_devices();

  std::unique_ptr<Library> library_;
  const Functions& call_;
  std::vector<Device> devices_;
  std::vector<DeviceSample> samples_;
  std::vector<std::int64_t> last_xid_;  // by index of the GPU; 0: none since opening
  unsigned gpu_count_ = 0;
  bool has_mig_ = false;
  std::uint64_t taken_ = 0;
  std::string driver_version_, nvml_version_, cuda_version_;
  EventSet events_ = nullptr;
  int events_code_ = kFunctionNotFound;
  std::vector<FieldValue> field_room_;
  ProcessRoom process_room_;
  GpmMetrics gpm_room_{};
};

// Of one call, which does not stop the others.
Error call_error(int code) {
  return {
      ExitCode::machine,
      fmt::format(fmt::runtime(tr("The NVIDIA driver refuses a call (NVML error {code}).")), fmt::arg("code", code)),
      code};
}

std::string system_text(int (*function)(char*, unsigned)) {
  char room[96] = {};
  if (function == nullptr || function(room, sizeof room - 1) != kSuccess) return {};
  return room;
}

// 13010 is CUDA 13.1.
std::string cuda_text(int (*function)(int*)) {
  int number = 0;
  if (function == nullptr || function(&number) != kSuccess || number <= 0) return {};
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

Source::~Source() {
  free_devices();
  if (events_ != nullptr && call_.event_set_free != nullptr) call_.event_set_free(events_);
}

void Source::free_devices() {
  for (Device& device : devices_) free_gpm(call_, device);
  devices_.clear();
  samples_.clear();
}

Result<bool> Source::start() {
  const int code = call_.count(&gpu_count_);
  if (code != kSuccess) return start_error(code);
  if (gpu_count_ == 0) return start_error(kNotFound);
  if (gpu_count_ > kMostGpus) gpu_count_ = kMostGpus;
  driver_version_ = system_text(call_.system_driver_version);
  nvml_version_ = system_text(call_.system_nvml_version);
  cuda_version_ = cuda_text(call_.system_cuda_version);
  list_devices();
  return true;
}

void Source::add(Device device, DeviceSample sample) {
  device.sample = samples_.size();
  sample.values.set(Metric::index, sample.index);
  sample.values.set(Metric::count, gpu_count_);
  if (!driver_version_.empty()) {
    sample.values.set_text(Metric::driver_version, driver_version_);
    sample.values.set_text(Metric::kmd_version, driver_version_);
  }
  if (!nvml_version_.empty()) sample.values.set_text(Metric::nvml_version, nvml_version_);
  if (!cuda_version_.empty()) sample.values.set_text(Metric::cuda_version, cuda_version_);
  devices_.push_back(std::move(device));
  samples_.push_back(std::move(sample));
}

int Source::open_gpu(int index, Handle& handle) {
  const int code = call_.handle_by_index(static_cast<unsigned>(index), &handle);
  return code == kSuccess && handle == nullptr ? static_cast<int>(kUnknown) : code;
}

void Source::list_devices() {
  free_devices();
  for (unsigned index = 0; index < gpu_count_; ++index) {
    Device gpu;
    gpu.open_code = open_gpu(static_cast<int>(index), gpu.handle);
    if (gpu.open_code == kSuccess && call_.mig_mode != nullptr) {
      unsigned current = 0;
      unsigned pending = 0;
      gpu.has_mig_mode = call_.mig_mode(gpu.handle, &current, &pending) == kSuccess;
      has_mig_ = has_mig_ || gpu.has_mig_mode;
      gpu.is_mig_on = gpu.has_mig_mode && current == 1;
    }
    DeviceSample sample;
    sample.index = static_cast<int>(index);
    const std::size_t place = samples_.size();
    add(gpu, std::move(sample));
    if (gpu.is_mig_on) list_mig_devices(place, gpu);
  }
  last_xid_.resize(gpu_count_, 0);
}

void Source::list_mig_devices(std::size_t gpu_sample, const Device& gpu) {
  if (call_.mig_handle == nullptr || call_.mig_max == nullptr) return;
  unsigned most = 0;
  if (call_.mig_max(gpu.handle, &most) != kSuccess) return;
  if (most > kMostMigDevices) most = kMostMigDevices;
  int number = 0;
  for (unsigned i = 0; i < most; ++i) {
    Device mig;
    if (call_.mig_handle(gpu.handle, i, &mig.handle) != kSuccess || mig.handle == nullptr) continue;
    mig.is_mig = true;
    DeviceSample sample;
    unsigned id = 0;
    if (call_.gpu_instance != nullptr && call_.gpu_instance(mig.handle, &id) == kSuccess) {
      mig.gpu_instance = sample.gpu_instance = id;
    }
    if (call_.compute_instance != nullptr && call_.compute_instance(mig.handle, &id) == kSuccess) {
      sample.compute_instance = id;
    }
    sample.index = number++;
    sample.parent = static_cast<int>(gpu_sample);
    add(mig, std::move(sample));
  }
}

void Source::watch_events() {
  if (call_.event_set_create == nullptr || call_.event_register == nullptr || call_.event_wait == nullptr) return;
  events_code_ = call_.event_set_create(&events_);
  if (events_code_ != kSuccess) return;
  int code = kNotSupported;
  for (const Device& device : devices_) {
    if (device.is_mig || device.open_code != kSuccess) continue;
    const int one = call_.event_register(device.handle, kXidEvent, events_);
    if (code != kSuccess) code = one;
  }
  events_code_ = code;
}

// One call a sample for all GPUs, as long as nothing happened.
void Source::read_events() {
  if (events_ == nullptr && events_code_ == kFunctionNotFound) watch_events();
  if (events_code_ != kSuccess) return;
  constexpr int kMostEvents = 64;
  for (int i = 0; i < kMostEvents; ++i) {
    EventData event{};
    if (call_.event_wait(events_, &event, 0) != kSuccess) return;
    for (const Device& device : devices_) {
      if (device.handle == event.device && event.type == kXidEvent && !device.is_mig) {
        last_xid_[static_cast<std::size_t>(samples_[device.sample].index)] =
            static_cast<std::int64_t>(event.data & 0x7FFFFFFF);
      }
    }
  }
}

const MetricMask& identity() {
  static const MetricMask mask =
      mask_of({Metric::name, Metric::uuid, Metric::serial, Metric::pci_bus_id, Metric::index, Metric::compute_cap});
  return mask;
}

const MetricMask& once() {
  static const MetricMask mask = [] {
    MetricMask found;
    for (const MetricInfo& info : metric_table()) found.set(index_of(info.id), info.cost == Cost::once);
    return found;
  }();
  return mask;
}

void Source::read(Device& device, const Wanted& wanted) {
  DeviceSample& sample = samples_[device.sample];
  const MetricMask mask = wanted.metrics | identity();
  for (const MetricInfo& info : metric_table()) {
    // What cannot change is kept; a failure is not, since it may pass.
    const ValueState state = sample.values[info.id].state;
    const bool is_kept = once().test(index_of(info.id)) && state != ValueState::lost && state != ValueState::failed;
    if (!is_kept) sample.values.set_missing(info.id, ValueState::not_asked);
  }
  sample.processes.clear();
  sample.processes_state = ValueState::not_asked;
  if (device.open_code != kSuccess) device.open_code = open_gpu(sample.index, device.handle);
  Reading reading{call_, device, sample.values, mask, device.open_code == kGpuIsLost};
  // As it was when the devices were listed: a change needs a reset of the GPU.
  if (device.has_mig_mode) sample.values.set(Metric::mig_mode_current, device.is_mig_on ? 1 : 0);
  if (device.open_code == kSuccess) {
    if (!device.is_mig) read_fields(reading, field_room_);
    if (!reading.is_lost) read_groups(reading);
    if (!reading.is_lost) read_gpm(reading, gpm_room_);
    if (!reading.is_lost && wanted.processes && !device.is_mig) {
      read_processes(reading, sample, process_room_, wanted.process_utilisation);
    }
  }
  finish(device, sample, mask, reading.is_lost);
}

// What was wanted and nobody told.
void Source::finish(Device& device, DeviceSample& sample, const MetricMask& wanted, bool is_lost) {
  sample.is_lost = is_lost;
  const int code = device.open_code != kSuccess ? device.open_code : static_cast<int>(kNotSupported);
  const ValueState state = is_lost ? ValueState::lost : state_of(code);
  if (wanted.test(index_of(Metric::xid_last)) && events_code_ == kSuccess && !device.is_mig) {
    sample.values.set(Metric::xid_last, last_xid_[static_cast<std::size_t>(sample.index)]);
  }
  for (std::size_t at = wanted._Find_first(); at < kMetricCount; at = wanted._Find_next(at)) {
    const auto metric = static_cast<Metric>(at);
    const bool is_kept = once().test(at) || metric == Metric::xid_last;
    if (is_lost && !is_kept) {
      sample.values.set_missing(metric, ValueState::lost, kGpuIsLost);
    } else if (sample.values[metric].state == ValueState::not_asked) {
      sample.values.set_missing(metric, state, code);
    }
  }
  if (is_lost) {
    sample.processes.clear();
    sample.processes_state = ValueState::lost;
  }
}

void Source::look_anew() {
  bool is_whole = true;
  for (const DeviceSample& sample : samples_) is_whole = is_whole && !sample.is_lost;
  if (has_mig_ && is_whole) {  // the list of a lost GPU could not be made again
    list_devices();
    return;
  }
  for (Device& device : devices_) {
    device.unsupported.reset();
    device.has_no_mps_list = false;
  }
}

const std::vector<DeviceSample>& Source::sample(const Wanted& wanted, std::int64_t) {
  if (taken_ != 0 && taken_ % kSamplesBetweenLooks == 0) look_anew();
  ++taken_;
  if (wanted.metrics.test(index_of(Metric::xid_last))) read_events();
  for (Device& device : devices_) read(device, wanted);
  return samples_;
}

Result<std::string> Source::process_name(std::int64_t pid) {
  if (call_.system_process_name == nullptr) return Error{ExitCode::machine, {}};
  char room[4096] = {};
  const int code = call_.system_process_name(static_cast<unsigned>(pid), room, sizeof room - 1);
  // A name that is longer than the room was cut to it.
  if (code != kSuccess && code != kInsufficientSize) return call_error(code);
  return std::string(room);
}

Result<std::vector<AccountedProcess>> Source::accounted(std::size_t place) {
  std::vector<AccountedProcess> list;
  if (place >= devices_.size() || devices_[place].is_mig) return list;
  const Device& device = devices_[place];
  const int code = device.open_code != kSuccess ? device.open_code : read_accounted(call_, device.handle, list);
  if (code == kNotSupported || code == kFunctionNotFound || code == kNotFound) return list;
  if (code != kSuccess) return call_error(code);
  return list;
}

// `read(handle, list)` of the GPU at `place`.
template <typename List, typename Read>
Result<List> Source::list_of(std::size_t place, Read read) {
  List list;
  if (place >= devices_.size() || devices_[place].is_mig) return call_error(kNotSupported);
  const Device& device = devices_[place];
  const int code = device.open_code != kSuccess ? device.open_code : read(device.handle, list);
  if (code != kSuccess) return call_error(code == kFunctionNotFound ? static_cast<int>(kNotSupported) : code);
  return list;
}

Result<std::vector<SupportedClocks>> Source::supported_clocks(std::size_t place) {
  using List = std::vector<SupportedClocks>;
  return list_of<List>(place, [&](Handle gpu, List& list) { return read_supported_clocks(call_, gpu, list); });
}

Result<std::vector<std::uint64_t>> Source::retired_pages(std::size_t place, RetirementCause cause) {
  using List = std::vector<std::uint64_t>;
  return list_of<List>(place, [&](Handle gpu, List& list) { return read_retired_pages(call_, gpu, cause, list); });
}

Result<RecentSamples> Source::recent(std::size_t place, RecentKind kind) {
  return list_of<RecentSamples>(
      place, [&](Handle gpu, RecentSamples& samples) { return read_recent(call_, gpu, kind, samples); });
}

}  // namespace
}  // namespace nvml

namespace {

Result<std::unique_ptr<DeviceSource>> open(std::string_view) {
  auto library = nvml::Library::open();
  if (!library) return library.error();
  auto source = std::make_unique<nvml::Source>(std::move(*library));
  const Result<bool> started = source->start();
  if (!started) return started.error();
  return std::unique_ptr<DeviceSource>(std::move(source));
}

}  // namespace

Backend backend_nvml() {
  return {"nvml", N_("NVIDIA GPUs, through the driver's management library"), 100, open, "nvidia"};
}

}  // namespace vramscope
