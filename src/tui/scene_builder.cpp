#include "tui/scene_builder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "monitor/verdict_rule.h"
#include "report/status.h"
#include "system/host.h"
#include "text/utf8.h"
#include "tui/process_facts.h"

namespace vramscope::tui {

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
// Bits of clocks_event_reasons.active (nvmlClocksEventReason… in NVIDIA's nvml.h).
constexpr std::int64_t kPowerCap = 0x4;
constexpr std::int64_t kSlowdowns = 0x8 | 0x20 | 0x40 | 0x80;

std::int64_t trend_piece_ns(std::size_t zoom) {
  return kWindows[zoom] * kSecondNs / static_cast<std::int64_t>(Trend().size());
}

std::optional<std::uint8_t> level(std::optional<std::int64_t> part, std::optional<std::int64_t> whole) {
  if (!part || !whole || *whole <= 0) return std::nullopt;
  return level_of_share(static_cast<double>(*part) / static_cast<double>(*whole));
}

// Of a MIG device: the GPU has none of its own then.
const DeviceSample* mig_device_of(const LiveSample& sample, std::size_t gpu, const DeviceProcess& process) {
  if (!process.gpu_instance) return nullptr;
  for (const DeviceSample& device : sample.devices()) {
    if (device.parent && static_cast<std::size_t>(*device.parent) == gpu &&
        device.gpu_instance == process.gpu_instance &&
        (!device.compute_instance || !process.compute_instance ||
         device.compute_instance == process.compute_instance)) {
      return &device;
    }
  }
  return nullptr;
}

void add_curves(SceneDevice& device, std::int64_t time_ns) {
  constexpr std::int64_t kHundred = 100;
  const bool is_lost = device.is_lost;
  const auto add = [&](Curve curve, std::optional<std::int64_t> part, std::optional<std::int64_t> whole) {
    device.curves[static_cast<std::size_t>(curve)].add(time_ns, is_lost ? std::nullopt : level(part, whole));
  };
  add(Curve::memory, device.memory_used, device.memory_total);
  add(Curve::utilisation, device.busy, kHundred);
  add(Curve::temperature, device.temperature, kHundred);
  add(Curve::power, device.power, device.power_limit);
  add(Curve::fan, device.fan, kHundred);
}

}  // namespace

SceneBuilder::SceneBuilder(std::string source, const Roots& roots) {
  scene_.host = printable(read_machine(roots).host_name.value_or(""));
  scene_.source = std::move(source);
}

void SceneBuilder::add(const LiveSample& sample, const Monitor& monitor, const std::vector<AlertEvent>& news) {
  scene_.problem.clear();
  scene_.time_ns = sample.time_ns;
  scene_.real_time_ns = sample.real_time_ns;
  scene_.is_played_back = sample.is_played_back;
  ++scene_.sample_count;
  const std::vector<DeviceSample>& devices = sample.devices();
  scene_.devices.resize(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) add_device(sample, devices[i], monitor, scene_.devices[i]);
  scene_.driver = devices.empty() ? std::string() : printable(devices[0].text(Metric::driver_version));
  add_processes(sample, monitor);
  add_alerts(news);
  if (!judged_ns_ || sample.time_ns - *judged_ns_ >= kSecondNs || sample.time_ns < *judged_ns_) {
    scene_.verdicts = judge({sample, monitor});
    judged_ns_ = sample.time_ns;
  }
  update_details(monitor);
}

void SceneBuilder::add_device(const LiveSample& sample, const DeviceSample& from, const Monitor& monitor,
                              SceneDevice& to) {
  const DeviceHistory* history = history_of({sample, monitor}, from);
  const std::string_view uuid = history != nullptr ? std::string_view(history->uuid) : std::string_view();
  if (to.uuid != uuid || to.label.empty()) {
    to = SceneDevice();
    to.uuid = uuid;
    to.name = printable(from.text(Metric::name));
  }
  to.label = device_label(sample, from);
  to.is_mig = from.parent.has_value();
  to.is_lost = from.is_lost;
  to.hides_processes = from.processes_state == ValueState::no_permission;
  to.lost_since_ns = history != nullptr ? history->lost_since_ns : std::nullopt;
  to.busy = from.number(Metric::utilization_gpu);
  to.memory_busy = from.number(Metric::utilization_memory);
  to.encoder = from.number(Metric::utilization_encoder);
  to.decoder = from.number(Metric::utilization_decoder);
  to.temperature = from.number(Metric::temperature_gpu);
  to.slowdown_temperature = from.number(Metric::temperature_slowdown);
  to.fan = from.number(Metric::fan_speed);
  to.power = from.number(Metric::power_draw);
  to.power_limit = from.number(Metric::enforced_power_limit);
  to.clock = from.number(Metric::clocks_current_sm);
  to.memory_clock = from.number(Metric::clocks_current_memory);
  to.memory_used = from.number(Metric::memory_used);
  to.memory_total = from.number(Metric::memory_total);
  to.pcie_generation = from.number(Metric::pcie_link_gen_current);
  to.pcie_width = from.number(Metric::pcie_link_width_current);
  to.pcie_tx = from.number(Metric::pcie_throughput_tx);
  to.pcie_rx = from.number(Metric::pcie_throughput_rx);
  const std::int64_t reasons = from.number(Metric::clocks_event_reasons_active).value_or(0);
  to.is_throttled = (reasons & kSlowdowns) != 0;
  to.is_power_capped = (reasons & kPowerCap) != 0;
  to.growth = history != nullptr ? history->growth.growth().state : GrowthState::none;
  to.full_in_ns = history != nullptr ? monitor.time_until_full_ns(*history) : std::nullopt;
  add_curves(to, sample.time_ns);
}

void SceneBuilder::add_processes(const LiveSample& sample, const Monitor& monitor) {
  std::swap(before_, scene_.processes);
  scene_.processes.clear();
  next_before_ = 0;
  next_holder_ = 0;
  for (std::size_t i = 0; i < sample.devices().size(); ++i) {
    for (const DeviceProcess& process : sample.devices()[i].processes) add_process(sample, i, process, monitor);
  }
}

const HolderHistory* SceneBuilder::holder_of(const Monitor& monitor, const ProcessKey& key, const std::string& uuid) {
  // Processes come in nearly the same order as at the sample before, and the monitor found them in that order.
  const std::vector<HolderHistory>& holders = monitor.holders();
  const auto is_it = [&](const HolderHistory& holder) { return holder.key == key && holder.device_uuid == uuid; };
  if (next_holder_ >= holders.size() || !is_it(holders[next_holder_])) {
    const auto found = std::find_if(holders.begin(), holders.end(), is_it);
    if (found == holders.end()) return nullptr;
    next_holder_ = static_cast<std::size_t>(found - holders.begin());
  }
  return &holders[next_holder_++];
}

void SceneBuilder::add_process(const LiveSample& sample, std::size_t device, const DeviceProcess& from,
                               const Monitor& monitor) {
  const HostProcess* host = sample.find(from.pid);
  ProcessKey key;
  key.pid = static_cast<std::int32_t>(from.pid);
  if (host != nullptr) key.start_ticks = host->process.key.start_ticks;
  const auto is_it = [&](const SceneProcess& process) { return process.key == key && process.device == device; };
  SceneProcess process;
  if (next_before_ >= before_.size() || !is_it(before_[next_before_])) {
    const auto found = std::find_if(before_.begin(), before_.end(), is_it);
    next_before_ = found == before_.end() ? before_.size() : static_cast<std::size_t>(found - before_.begin());
  }
  if (next_before_ < before_.size()) process = std::move(before_[next_before_++]);
  process.key = key;
  process.device = device;
  const DeviceSample& gpu = sample.devices()[device];
  const DeviceSample* mig = mig_device_of(sample, device, from);
  process.device_label = device_label(sample, mig != nullptr ? *mig : gpu);
  fill_process(process, from, host);
  const auto total = (mig != nullptr ? *mig : gpu).number(Metric::memory_total);
  process.memory_share.reset();
  if (total && *total > 0 && from.used_bytes) {
    process.memory_share = static_cast<double>(*from.used_bytes) / static_cast<double>(*total);
  }
  const HolderHistory* holder = holder_of(monitor, key, scene_.devices[device].uuid);
  process.growth = holder != nullptr ? holder->growth.growth().state : GrowthState::none;
  process.bytes_per_hour = process.growth != GrowthState::none ? holder->growth.growth().bytes_per_hour : 0;
  update_trend(process, holder, sample.time_ns);
  scene_.processes.push_back(std::move(process));
}

void SceneBuilder::update_trend(SceneProcess& process, const HolderHistory* holder, std::int64_t now_ns) const {
  const std::int64_t piece = now_ns / trend_piece_ns(zoom_);
  const auto count = static_cast<std::int64_t>(process.trend.size());
  if (process.trend_piece < 0 || piece - process.trend_piece > count || piece < process.trend_piece) {
    refill_trend(process, holder, now_ns);
    return;
  }
  const float value = process.used_bytes ? static_cast<float>(*process.used_bytes) : -1;
  for (; process.trend_piece < piece; ++process.trend_piece) {
    std::copy(process.trend.begin() + 1, process.trend.end(), process.trend.begin());
    process.trend.back() = process.trend_piece + 1 < piece ? process.trend[process.trend.size() - 2] : value;
  }
  process.trend.back() = std::max(process.trend.back(), value);
}

void SceneBuilder::refill_trend(SceneProcess& process, const HolderHistory* holder, std::int64_t now_ns) const {
  const std::int64_t piece_ns = trend_piece_ns(zoom_);
  const auto count = static_cast<std::int64_t>(process.trend.size());
  process.trend.fill(-1);
  process.trend_piece = now_ns / piece_ns;
  if (holder == nullptr) return;
  const std::int64_t first_piece = process.trend_piece - count + 1;
  // The point before the window, too: what it says holds into it.
  float held = -1;
  std::int64_t next = 0;
  const auto hold_until = [&](std::int64_t place) {
    for (; next < place; ++next) {
      float& to = process.trend[static_cast<std::size_t>(next)];
      to = std::max(to, held);
    }
  };
  for (const TimedValue& point : holder->memory_used.points_since(0)) {
    const std::int64_t place = point.time_ns / piece_ns - first_piece;
    if (place >= 0 && place < count) {
      hold_until(place);
      float& to = process.trend[static_cast<std::size_t>(place)];
      to = std::max(to, static_cast<float>(point.value));
      next = std::max(next, place + 1);
    }
    if (place < count) held = static_cast<float>(point.value);
  }
  hold_until(count);
}

void SceneBuilder::set_zoom(std::size_t zoom, const Monitor& monitor) {
  if (zoom == zoom_ || zoom >= kWindows.size()) return;
  zoom_ = zoom;
  for (SceneProcess& process : scene_.processes) {
    refill_trend(process, monitor.find_holder(process.key, scene_.devices[process.device].uuid), scene_.time_ns);
  }
}

void SceneBuilder::add_alerts(const std::vector<AlertEvent>& news) {
  if (news.empty()) return;
  for (const AlertEvent& event : news) {
    if (event.kind == AlertKind::resolved) {
      firing_.erase(event.key);
    } else {
      firing_[event.key] = event;
    }
  }
  scene_.alerts.clear();
  for (const auto& [key, event] : firing_) scene_.alerts.push_back(event);
  std::stable_sort(scene_.alerts.begin(), scene_.alerts.end(),
                   [](const AlertEvent& a, const AlertEvent& b) { return a.time_ns < b.time_ns; });
}

void SceneBuilder::set_details(std::optional<SceneDetails> details, const Monitor& monitor) {
  scene_.details = std::move(details);
  update_details(monitor);
}

void SceneBuilder::update_details(const Monitor& monitor) {
  if (!scene_.details) return;
  const HolderHistory* holder = monitor.find_holder(scene_.details->key, scene_.details->device_uuid);
  scene_.details->memory.clear();
  if (holder == nullptr) return;
  for (const TimedValue& point : holder->memory_used.points_since(scene_.time_ns - kWindows[zoom_] * kSecondNs)) {
    scene_.details->memory.emplace_back(point.time_ns, static_cast<double>(point.value));
  }
}

}  // namespace vramscope::tui
