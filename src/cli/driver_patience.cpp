#include "cli/driver_patience.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "cli/inputs.h"
#include "fmt/format.h"
#include "text/catalogue.h"
#include "text/format.h"

namespace vramscope {

namespace {

constexpr std::chrono::milliseconds kRhythm{250};

class PatientSampler : public Sampler {
 public:
  PatientSampler(std::unique_ptr<DriverPatience> patience, std::unique_ptr<Sampler> sampler)
      : patience_(std::move(patience)), sampler_(std::move(sampler)) {}

  const LiveSample* sample() override {
    const DriverPatience::Call call(*patience_);
    return sampler_->sample();
  }
  std::int64_t due_ns() const override { return sampler_->due_ns(); }
  bool is_played_back() const override { return false; }

 private:
  std::unique_ptr<DriverPatience> patience_;
  std::unique_ptr<Sampler> sampler_;
};

class PatientDevices : public DeviceSource {
 public:
  PatientDevices(std::unique_ptr<DriverPatience> patience, std::unique_ptr<DeviceSource> source)
      : patience_(std::move(patience)), source_(std::move(source)) {}

  const std::vector<DeviceSample>& sample(const Wanted& wanted, std::int64_t time_ns) override {
    const DriverPatience::Call call(*patience_);
    return source_->sample(wanted, time_ns);
  }
  Result<std::string> process_name(std::int64_t pid) override {
    const DriverPatience::Call call(*patience_);
    return source_->process_name(pid);
  }
  Result<std::vector<AccountedProcess>> accounted(std::size_t place) override {
    const DriverPatience::Call call(*patience_);
    return source_->accounted(place);
  }
  Result<std::vector<SupportedClocks>> supported_clocks(std::size_t place) override {
    const DriverPatience::Call call(*patience_);
    return source_->supported_clocks(place);
  }
  Result<std::vector<std::uint64_t>> retired_pages(std::size_t place, RetirementCause cause) override {
    const DriverPatience::Call call(*patience_);
    return source_->retired_pages(place, cause);
  }
  Result<RecentSamples> recent(std::size_t place, RecentKind kind) override {
    const DriverPatience::Call call(*patience_);
    return source_->recent(place, kind);
  }

 private:
  std::unique_ptr<DriverPatience> patience_;
  std::unique_ptr<DeviceSource> source_;
};

}  // namespace

DriverPatience::Call::Call(DriverPatience& patience) : patience_(patience) {
  patience_.since_ns_ = monotonic_now_ns();
}

DriverPatience::Call::~Call() {
  patience_.since_ns_ = 0;
}

DriverPatience::DriverPatience(std::function<int()> asked_to_end)
    : asked_to_end_(std::move(asked_to_end)), thread_([this] { run(); }) {}

DriverPatience::~DriverPatience() {
  {
    const std::lock_guard lock(lock_);
    is_over_ = true;
  }
  over_.notify_all();
  thread_.join();
}

void DriverPatience::run() {
  std::unique_lock lock(lock_);
  while (!over_.wait_for(lock, kRhythm, [this] { return is_over_; })) look(monotonic_now_ns());
}

void DriverPatience::look(std::int64_t now_ns) {
  const std::int64_t since_ns = since_ns_;
  if (since_ns == 0) return;
  if (now_ns - since_ns >= kSilenceNs && std::exchange(told_ns_, since_ns) != since_ns) {
    fail({ExitCode::machine, fmt::format(fmt::runtime(tr("The driver has not answered for {time}; Ctrl-C ends the "
                                                         "wait.")),
                                         fmt::arg("time", format_duration(kSilenceNs)))});
  }
  const int signal = asked_to_end_ ? asked_to_end_() : 0;
  if (signal == 0) return;
  if (asked_ns_ == 0) asked_ns_ = now_ns;
  if (now_ns - std::max(asked_ns_, since_ns) < kLetGoNs) return;
  fail({ExitCode::machine, tr("The driver does not answer; look at the kernel's log (sudo dmesg | grep -i -e nvrm -e "
                              "xid).")});
  std::_Exit(128 + signal);  // what the call holds can be neither used nor given back
}

Result<std::unique_ptr<Sampler>> open_patient_sampler(SamplerOptions options, std::function<int()> asked_to_end) {
  auto patience = std::make_unique<DriverPatience>(std::move(asked_to_end));
  const DriverPatience::Call call(*patience);
  auto sampler = open_sampler(std::move(options));
  if (!sampler || (*sampler)->is_played_back()) return sampler;
  return std::unique_ptr<Sampler>(std::make_unique<PatientSampler>(std::move(patience), std::move(*sampler)));
}

Result<std::unique_ptr<DeviceSource>> open_patient_devices(std::string_view device, std::function<int()> asked_to_end) {
  auto patience = std::make_unique<DriverPatience>(std::move(asked_to_end));
  const DriverPatience::Call call(*patience);
  auto source = open_devices(device);
  if (!source) return source;
  return std::unique_ptr<DeviceSource>(std::make_unique<PatientDevices>(std::move(patience), std::move(*source)));
}

int pending_end_signal() {
  sigset_t pending;
  if (sigpending(&pending) != 0) return 0;
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    if (sigismember(&pending, number) == 1) return number;
  }
  return 0;
}

}  // namespace vramscope
