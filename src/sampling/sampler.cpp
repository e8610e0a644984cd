#include "sampling/sampler.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "sampling/driver_names.h"
#include "sampling/host_processes.h"
#include "sampling/replay.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

bool is_simulation(std::string_view device) {
  return device == "sim" || device.substr(0, 4) == "sim:";
}

// "drm:/host" looks at the machine whose root is /host; its processes are there too.
Roots roots_of(const SamplerOptions& options) {
  constexpr std::string_view kPrefix = "drm:";
  const std::string_view device = options.device;
  if (!device.starts_with(kPrefix) || device.size() == kPrefix.size()) return options.roots;
  const std::string folder(device.substr(kPrefix.size()));
  return {folder + "/proc", folder + "/sys"};
}

// The next time of a rhythm that lies ahead.
std::int64_t next_due(std::int64_t due_ns, std::int64_t interval_ns, std::int64_t now_ns) {
  due_ns += interval_ns;
  if (due_ns > now_ns) return due_ns;
  return due_ns + (now_ns - due_ns) / interval_ns * interval_ns + interval_ns;
}

// The devices of this machine.
class LiveSampler : public Sampler {
 public:
  LiveSampler(OpenedDevices opened, const SamplerOptions& options)
      : opened_(std::move(opened)), options_(options), processes_(roots_of(options), options.host_rest_ns) {
    if (!opened_.missing.empty()) sample_.missing_backends = &opened_.missing;
  }

  const LiveSample* sample() override {
    const std::int64_t now_ns = monotonic_now_ns();
    due_ns_ = due_ns_ == 0 ? now_ns + options_.interval_ns : next_due(due_ns_, options_.interval_ns, now_ns);
    if (started_ns_ == 0) started_ns_ = now_ns;
    sample_.device_list = &opened_.source->sample(options_.wanted, now_ns - started_ns_);
    sample_.time_ns = monotonic_now_ns();
    sample_.answer_ns = sample_.time_ns - now_ns;
    sample_.real_time_ns = clock_ns(CLOCK_REALTIME);
    if (options_.wanted.processes) {
      processes_.join(sample_);
      names_.add_to(sample_, *opened_.source);
    }
    return &sample_;
  }
  std::int64_t due_ns() const override { return due_ns_; }
  bool is_played_back() const override { return false; }

 private:
  OpenedDevices opened_;
  SamplerOptions options_;
  HostProcesses processes_;
  DriverNames names_;
  LiveSample sample_;
  std::int64_t started_ns_ = 0;
  std::int64_t due_ns_ = 0;
};

// A scenario. Its samples are `interval_ns` of its own time apart, exactly.
class SimulatedSampler : public Sampler {
 public:
  SimulatedSampler(std::unique_ptr<DeviceSource> devices, const SamplerOptions& options)
      : devices_(std::move(devices)), options_(options), began_real_ns_(clock_ns(CLOCK_REALTIME)) {
    sample_.is_played_back = true;
  }

  const LiveSample* sample() override {
    const std::int64_t now_ns = monotonic_now_ns();
    if (count_ == 0) began_ns_ = now_ns;
    const std::int64_t time_ns = count_++ * options_.interval_ns;
    sample_.device_list = &devices_->sample(options_.wanted, time_ns);
    sample_.time_ns = time_ns;
    sample_.real_time_ns = began_real_ns_ + time_ns;
    join_simulated(sample_);
    if (options_.speed > 0) {
      due_ns_ = began_ns_ + std::llround(static_cast<double>(count_ * options_.interval_ns) / options_.speed);
    }
    return &sample_;
  }
  std::int64_t due_ns() const override { return due_ns_; }
  bool is_played_back() const override { return true; }

 private:
  std::unique_ptr<DeviceSource> devices_;
  SamplerOptions options_;
  LiveSample sample_;
  std::int64_t began_real_ns_;
  std::int64_t began_ns_ = 0;
  std::int64_t count_ = 0;
  std::int64_t due_ns_ = 0;
};

}  // namespace

std::int64_t monotonic_now_ns() {
  return clock_ns(CLOCK_MONOTONIC);
}

Result<std::unique_ptr<Sampler>> open_sampler(SamplerOptions options) {
  options.interval_ns = std::max<std::int64_t>(options.interval_ns, 1'000'000);
  if (!options.replay.empty()) {
    if (!options.device.empty()) {
      return Error{ExitCode::usage, tr("A recording is played in place of devices; leave out --device or --replay.")};
    }
    return open_replay(options);
  }
  auto devices = open_all_devices(options.device, options.roots.sys);
  if (!devices) return devices.error();
  if (is_simulation(options.device)) {
    return std::unique_ptr<Sampler>(std::make_unique<SimulatedSampler>(std::move(devices->source), options));
  }
  return std::unique_ptr<Sampler>(std::make_unique<LiveSampler>(std::move(*devices), options));
}

}  // namespace vramscope
