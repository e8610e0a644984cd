#include "sampling/log_replay.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace vramscope {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

ProcessType type_of(LogProcessType type) {
  if (type == LogProcessType::both) return ProcessType::compute_and_graphics;
  return type == LogProcessType::graphics ? ProcessType::graphics : ProcessType::compute;
}

// "/usr/bin/python3" and "C:\Windows\explorer.exe" by their last part, as /proc would name them.
std::string short_name(const std::string& path) {
  const std::size_t slash = path.find_last_of("/\\");
  return slash == std::string::npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
}

class LogSampler : public Sampler {
 public:
  LogSampler(Source source, double speed) : source_(std::move(source)), log_(*source_.device_log), speed_(speed) {
    sample_.is_played_back = true;
    sample_.device_list = &devices_;
    if (!source_.trouble.empty()) sample_.trouble = &source_.trouble;
    lay_out();
  }
  const LiveSample* sample() override {
    if (moment_ >= log_.moments) return nullptr;
    const std::int64_t time_ns = moment_time_ns(moment_);
    sample_.time_ns = std::max(sample_.time_ns, time_ns - moment_time_ns(0));
    sample_.real_time_ns = time_ns;
    for (Reading& reading : readings_) advance(reading);
    take_processes();
    if (moment_ == 0) began_ns_ = monotonic_now_ns();
    ++moment_;
    if (moment_ < log_.moments && speed_ > 0) {
      const auto ahead_ns = static_cast<double>(moment_time_ns(moment_) - moment_time_ns(0));
      due_ns_ = began_ns_ + std::llround(std::min(ahead_ns / speed_, 4e18));
    }
    return &sample_;
  }
  std::int64_t due_ns() const override { return due_ns_; }
  bool is_played_back() const override { return true; }

 private:
  struct Reading {
    std::size_t device;  // its place in devices_
    const LogSeries* series;
    std::size_t next = 0;  // the run that comes next
  };

  std::int64_t moment_time_ns(std::uint32_t moment) const {
    return log_.time_ns.empty() ? std::int64_t{moment} * kSecond : log_.time_ns[moment];
  }

  // GPUs by their index, MIG devices behind their GPU.
  void lay_out() {
    std::vector<std::size_t> gpus;
    for (std::size_t at = 0; at < log_.devices.size(); ++at) {
      if (!log_.devices[at].parent) gpus.push_back(at);
    }
    std::stable_sort(gpus.begin(), gpus.end(),
                     [&](std::size_t a, std::size_t b) { return shown_index(log_, a) < shown_index(log_, b); });
    places_.resize(log_.devices.size());
    for (const std::size_t gpu : gpus) {
      add(gpu, std::nullopt);
      const std::size_t place = places_[gpu];
      for (std::size_t at = 0; at < log_.devices.size(); ++at) {
        if (log_.devices[at].parent == gpu) add(at, static_cast<int>(place));
      }
    }
  }
  void add(std::size_t from, std::optional<int> parent) {
    const LogDevice& device = log_.devices[from];
    places_[from] = devices_.size();
    DeviceSample made;
    const std::int64_t index = shown_index(log_, from);
    made.index = static_cast<int>(std::clamp<std::int64_t>(index, 0, 100'000));
    made.parent = parent;
    made.gpu_instance = device.gpu_instance;
    made.compute_instance = device.compute_instance;
    made.values.set(Metric::index, made.index);
    for (const LogSeries& series : device.series) readings_.push_back({devices_.size(), &series, 0});
    devices_.push_back(std::move(made));
  }

  void advance(Reading& reading) {
    const LogSeries& series = *reading.series;
    if (reading.next >= series.moment.size() || series.moment[reading.next] != moment_) return;
    const std::size_t run = reading.next++;
    if (series.state[run] == ValueState::not_asked) return;
    DeviceSample& device = devices_[reading.device];
    if (series.metric == Metric::index) return;
    if (series.state[run] != ValueState::known) {
      device.values.set_missing(series.metric, series.state[run], static_cast<int>(series.value[run]));
    } else if (info_of(series.metric).unit == MetricUnit::text) {
      device.values.set_text(series.metric, log_.texts[static_cast<std::size_t>(series.value[run])]);
    } else {
      device.values.set(series.metric, series.value[run]);
    }
  }

  void take_processes() {
    if (log_.tells_processes[moment_] == 0) return;
    for (DeviceSample& device : devices_) {
      device.processes.clear();
      if (!device.parent) device.processes_state = ValueState::known;
    }
    hosts_.clear();
    for (std::uint32_t at = log_.first_use[moment_]; at < log_.first_use[moment_ + 1]; ++at) {
      const LogUse& use = log_.uses[at];
      const LogProcess& process = log_.processes[use.process];
      if (process.pid > INT32_MAX) continue;
      devices_[places_[use.device]].processes.push_back(device_process(use, process));
      add_host(process);
    }
    for (DeviceSample& device : devices_) {
      std::sort(device.processes.begin(), device.processes.end(),
                [](const DeviceProcess& a, const DeviceProcess& b) { return a.pid < b.pid; });
    }
    sample_.processes.clear();
    for (auto& [pid, host] : hosts_) sample_.processes.push_back(host);
  }
  static DeviceProcess device_process(const LogUse& use, const LogProcess& process) {
    DeviceProcess made;
    made.pid = process.pid;
    made.type = type_of(use.type);
    if (use.used_bytes != kNoLogValue) made.used_bytes = use.used_bytes;
    std::optional<std::int64_t>* const shares[] = {&made.sm_percent,      &made.memory_percent, &made.encoder_percent,
                                                   &made.decoder_percent, &made.jpeg_percent,   &made.ofa_percent};
    for (std::size_t i = 0; i < std::size(shares); ++i) {
      if (use.share_percent[i] >= 0) *shares[i] = use.share_percent[i];
    }
    if (use.gpu_instance >= 0) made.gpu_instance = use.gpu_instance;
    if (use.compute_instance >= 0) made.compute_instance = use.compute_instance;
    return made;
  }
  void add_host(const LogProcess& process) {
    const auto pid = static_cast<std::int32_t>(process.pid);
    HostProcess& host = hosts_[pid];
    host.pid = pid;
    host.process.key.pid = pid;
    if (process.name.empty()) return;
    host.presence = Presence::seen;
    host.process.name = short_name(process.name);
    host.process.command = process.name;
  }

  Source source_;
  const DeviceLog& log_;
  double speed_;
  std::uint32_t moment_ = 0;
  std::int64_t began_ns_ = 0;
  std::int64_t due_ns_ = 0;
  std::vector<std::size_t> places_;  // of the log's devices in devices_
  std::vector<DeviceSample> devices_;
  std::vector<Reading> readings_;
  std::map<std::int32_t, HostProcess> hosts_;
  LiveSample sample_;
};

}  // namespace

std::unique_ptr<Sampler> play_log(Source source, double speed) {
  if (!source.device_log || source.device_log->devices.empty() || source.device_log->moments == 0) return nullptr;
  return std::make_unique<LogSampler>(std::move(source), speed);
}

}  // namespace vramscope
