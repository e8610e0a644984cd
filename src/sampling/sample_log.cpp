#include "sampling/sample_log.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace vramscope {

namespace {

LogProcessType type_of(ProcessType type) {
  if (type == ProcessType::compute) return LogProcessType::compute;
  return type == ProcessType::graphics ? LogProcessType::graphics : LogProcessType::both;
}

std::int32_t instance_of(const std::optional<std::int64_t>& number) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(number.value_or(-1), -1, INT32_MAX));
}

LogUse use_of(const DeviceProcess& process) {
  LogUse use;
  if (process.used_bytes) {
    use.used_bytes = *process.used_bytes;
    use.used_state = ValueState::known;
  }
  const std::optional<std::int64_t>* const shares[] = {&process.sm_percent,      &process.memory_percent,
                                                       &process.encoder_percent, &process.decoder_percent,
                                                       &process.jpeg_percent,    &process.ofa_percent};
  for (std::size_t i = 0; i < std::size(shares); ++i) {
    if (*shares[i]) use.share_percent[i] = static_cast<std::int16_t>(std::clamp<std::int64_t>(**shares[i], 0, 100));
  }
  use.gpu_instance = instance_of(process.gpu_instance);
  use.compute_instance = instance_of(process.compute_instance);
  use.type = type_of(process.type);
  return use;
}

}  // namespace

std::uint32_t SampleLog::place_of(const LiveSample& sample, std::size_t at) {
  const DeviceSample& from = sample.devices()[at];
  const auto [known, is_new] = places_.try_emplace(device_key(sample, from), 0);
  if (!is_new) return known->second;
  LogDevice device;
  device.index = from.index;
  if (from.parent) device.parent = place_of(sample, static_cast<std::size_t>(*from.parent));
  device.gpu_instance = from.gpu_instance;
  device.compute_instance = from.compute_instance;
  return known->second = builder_.add_device(std::move(device));
}

std::uint32_t SampleLog::process_of(const LiveSample& sample, std::int64_t pid) {
  const HostProcess* host = sample.find(pid);
  const std::int64_t start = host == nullptr ? 0 : host->process.key.start_ticks;
  const auto [known, is_new] = processes_.try_emplace({pid, start}, 0);
  if (is_new) known->second = builder_.add_process({pid, host == nullptr ? "" : std::string(shown_name(*host))});
  return known->second;
}

void SampleLog::add_uses(const LiveSample& sample, std::size_t at) {
  for (const DeviceProcess& process : sample.devices()[at].processes) {
    LogUse use = use_of(process);
    use.device = place_of(sample, at);
    use.process = process_of(sample, process.pid);
    builder_.add_use(use);
  }
}

void SampleLog::add(const LiveSample& sample) {
  is_played_back_ = sample.is_played_back;
  const std::int64_t time_ns = is_played_back_ ? sample.time_ns : sample.real_time_ns;
  if (builder_.empty()) first_ns_ = time_ns;
  last_ns_ = std::max(last_ns_, time_ns);
  builder_.begin_moment(time_ns);
  const std::vector<DeviceSample>& devices = sample.devices();
  const bool lists_all = std::all_of(devices.begin(), devices.end(), [](const DeviceSample& device) {
    return device.parent || (device.processes_state == ValueState::known && device.unreadable_processes == 0);
  });
  if (lists_all) builder_.list_processes();
  for (std::size_t at = 0; at < devices.size(); ++at) {
    const std::uint32_t place = place_of(sample, at);
    for (const MetricInfo& info : metric_table()) {
      const MetricValue& value = devices[at].values[info.id];
      if (info.unit == MetricUnit::text) {
        builder_.set_text(place, info.id, devices[at].text(info.id));
      } else if (value.state != ValueState::not_asked) {
        // The driver's last word stays when the GPU is gone.
        const bool is_gone = devices[at].is_lost && info.id != Metric::xid_last;
        builder_.set(place, info.id, is_gone ? ValueState::lost : value.state, value.number);
      }
    }
    add_uses(sample, at);
  }
}

Source SampleLog::take(std::string path) {
  Source source;
  source.path = std::move(path);
  source.format = "look";
  source.start_ns = first_ns_;
  source.end_ns = last_ns_;
  source.device_log = builder_.take(is_played_back_ ? LogClock::time_of_day : LogClock::zoned, "look");
  source.trace.strings.seal();
  return source;
}

}  // namespace vramscope
