#pragma once
// Makes small logs of devices for the tests of rules: moments at a rhythm, values, processes.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "model/device_log_builder.h"
#include "rules/rule.h"

namespace vramscope {

inline constexpr std::int64_t kTestSecond = 1'000'000'000;
inline constexpr std::int64_t kTestGib = std::int64_t{1} << 30;

class DeviceLogMaker {
 public:
  // GPUs of 24 GiB that can do 2000 MHz, 300 W and PCIe generation 4 with 16 lanes.
  explicit DeviceLogMaker(std::uint32_t gpus = 1) {
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
      LogDevice device;
      device.index = gpu;
      builder_.add_device(std::move(device));
      set(gpu, Metric::memory_total, 24 * kTestGib);
      set(gpu, Metric::clocks_max_sm, 2000);
      set(gpu, Metric::power_default_limit, 300'000);
      set(gpu, Metric::enforced_power_limit, 300'000);
      set(gpu, Metric::pcie_link_gen_max, 4);
      set(gpu, Metric::pcie_link_width_max, 16);
    }
  }

  // The next moment, so long after the last.
  void moment(std::int64_t after_ns = kTestSecond) { builder_.begin_moment(now_ns_ += after_ns); }
  void set(std::uint32_t gpu, Metric metric, std::int64_t value) {
    builder_.set(gpu, metric, ValueState::known, value);
  }
  void no_value(std::uint32_t gpu, Metric metric) { builder_.set(gpu, metric, ValueState::not_supported, 0); }
  void busy(std::uint32_t gpu, std::int64_t percent) { set(gpu, Metric::utilization_gpu, percent); }
  void used(std::uint32_t gpu, std::int64_t bytes) { set(gpu, Metric::memory_used, bytes); }
  void lists() { builder_.list_processes(); }
  // A process on a GPU at this moment; bytes below 0: not told.
  void use(std::uint32_t gpu, std::int64_t pid, std::string_view name, std::int64_t bytes,
           LogProcessType type = LogProcessType::compute) {
    lists();
    const auto key = std::make_pair(pid, std::string(name));
    const auto [known, is_new] = processes_.try_emplace(key, 0);
    if (is_new) known->second = builder_.add_process({pid, std::string(name)});
    LogUse use;
    use.process = known->second;
    use.device = gpu;
    if (bytes >= 0) use.used_bytes = bytes;
    use.type = type;
    builder_.add_use(use);
  }
  DeviceLogBuilder& builder() { return builder_; }

  // Without times the moments are numbers of samples.
  Source take(bool has_times = true, const char* part = "table") {
    Source source;
    source.path = "test.log";
    source.device_log = builder_.take(has_times ? LogClock::zoned : LogClock::none, part);
    if (!has_times) source.device_log->time_ns.clear();
    return source;
  }

 private:
  DeviceLogBuilder builder_;
  std::map<std::pair<std::int64_t, std::string>, std::uint32_t> processes_;
  std::int64_t now_ns_ = 1'700'000'000 * kTestSecond;
};

// What one rule says of a source.
inline Verdicts judge_log(std::string_view rule, const Source& source) {
  Verdicts verdicts;
  Facts facts(source);
  for (const Rule& each : rules()) {
    if (each.id == rule) run_rule(each, facts, verdicts);
  }
  return verdicts;
}

inline bool is_fine(const Verdicts& verdicts) {
  return verdicts.findings.empty() && verdicts.skipped.empty() && verdicts.passed.size() == 1;
}
inline bool is_skipped(const Verdicts& verdicts) {
  return verdicts.findings.empty() && verdicts.skipped.size() == 1 && !verdicts.skipped.front().is_other_kind;
}

// The number of a piece of evidence; -1 where it is not there.
inline double evidence_of(const Finding& finding, std::string_view what) {
  for (const Evidence& evidence : finding.evidence) {
    if (what != evidence.what) continue;
    if (const auto* number = std::get_if<std::int64_t>(&evidence.value.data)) return static_cast<double>(*number);
    if (const auto* share = std::get_if<double>(&evidence.value.data)) return *share;
  }
  return -1;
}

}  // namespace vramscope
