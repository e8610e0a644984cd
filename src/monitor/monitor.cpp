#include "monitor/monitor.h"

#include <algorithm>

namespace vramscope {

namespace {

// Processes that never touch the device for this long are called idle by verdicts.
bool is_busy(const DeviceProcess& process) {
  return process.sm_percent.value_or(0) > 0 || process.encoder_percent.value_or(0) > 0 ||
         process.decoder_percent.value_or(0) > 0;
}

bool shares_known(const DeviceProcess& process) {
  return process.sm_percent.has_value();
}

void note_idle_cache(HolderHistory& to, const DeviceProcess& process, std::int64_t time_ns) {
  const auto idle = idle_cache_bytes(process);
  if (!idle || *idle < Monitor::kWorthOfCache) {
    to.idle_cache_since_ns.reset();
    return;
  }
  to.least_idle_cache_bytes = to.idle_cache_since_ns ? std::min(to.least_idle_cache_bytes, *idle) : *idle;
  if (!to.idle_cache_since_ns) to.idle_cache_since_ns = time_ns;
}

}  // namespace

void Monitor::add(const LiveSample& sample) {
  if (sample_count_++ == 0) first_time_ns_ = sample.time_ns;
  last_time_ns_ = sample.time_ns;
  const std::vector<DeviceSample>& devices = sample.devices();
  for (std::size_t i = 0; i < devices.size(); ++i) add_device(sample, i);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].processes.empty()) continue;
    const std::string uuid = device_key(sample, devices[i]);
    for (const DeviceProcess& process : devices[i].processes) add_holder(sample, uuid, process);
  }
  next_holder_ = 0;
  for (HolderHistory& holder : holders_) {
    if (holder.last_seen_ns != sample.time_ns && !holder.gone_since_ns) holder.gone_since_ns = sample.time_ns;
  }
  const auto is_old = [&](const HolderHistory& holder) {
    return holder.gone_since_ns && sample.time_ns - *holder.gone_since_ns > kKeepGoneNs;
  };
  holders_.erase(std::remove_if(holders_.begin(), holders_.end(), is_old), holders_.end());
}

void Monitor::add_device(const LiveSample& sample, std::size_t place) {
  const DeviceSample& from = sample.devices()[place];
  const std::string uuid = device_key(sample, from);
  auto found =
      std::find_if(devices_.begin(), devices_.end(), [&](const DeviceHistory& device) { return device.uuid == uuid; });
  if (found == devices_.end()) {
    DeviceHistory device;
    device.uuid = uuid;
    device.index = from.index;
    if (from.parent) device.parent_index = sample.devices()[static_cast<std::size_t>(*from.parent)].index;
    device.name = std::string(from.text(Metric::name));
    devices_.push_back(std::move(device));
    found = devices_.end() - 1;
  }
  DeviceHistory& to = *found;
  if (from.is_lost && !to.lost_since_ns) to.lost_since_ns = sample.time_ns;
  if (!from.is_lost) to.lost_since_ns.reset();
  to.is_lost = from.is_lost;
  if (const auto xid = from.number(Metric::xid_last); xid && *xid > 0) to.xid_last = xid;
  if (from.is_lost) return;
  if (const auto total = from.number(Metric::memory_total)) to.memory_total_bytes = total;
  if (const auto reserved = from.number(Metric::memory_reserved)) to.memory_reserved_bytes = reserved;
  if (const auto used = from.number(Metric::memory_used)) {
    to.memory_used.add(sample.time_ns, *used);
    to.growth.add(sample.time_ns, *used);
  }
  if (const auto busy = from.number(Metric::utilization_gpu)) to.utilisation.add(sample.time_ns, *busy);
}

void Monitor::add_holder(const LiveSample& sample, const std::string& uuid, const DeviceProcess& process) {
  ProcessKey key;
  key.pid = static_cast<std::int32_t>(process.pid);
  const HostProcess* host = sample.find(process.pid);
  if (host != nullptr) key.start_ticks = host->process.key.start_ticks;
  const auto is_it = [&](const HolderHistory& holder) { return holder.key == key && holder.device_uuid == uuid; };
  // From one sample to the next the order hardly changes: the one behind the last is tried first.
  auto found = holders_.end();
  if (next_holder_ < holders_.size() && is_it(holders_[next_holder_])) {
    found = holders_.begin() + static_cast<std::ptrdiff_t>(next_holder_);
  } else {
    found = std::find_if(holders_.begin(), holders_.end(), is_it);
  }
  if (found == holders_.end()) {
    HolderHistory holder;
    holder.id = ++last_id_;
    holder.key = key;
    holder.device_uuid = uuid;
    holder.first_seen_ns = sample.time_ns;
    holders_.push_back(std::move(holder));
    found = holders_.end() - 1;
  }
  next_holder_ = static_cast<std::size_t>(found - holders_.begin()) + 1;
  HolderHistory& to = *found;
  if (host != nullptr && host->presence == Presence::seen) {
    if (to.name != host->process.name) to.name = host->process.name;
    if (host->process.user && to.user != *host->process.user) to.user = *host->process.user;
    if (host->process.command && to.command != *host->process.command) to.command = *host->process.command;
  } else if (host != nullptr && to.name.empty()) {
    to.name = host->driver_name;
  }
  to.last_seen_ns = sample.time_ns;
  to.gone_since_ns.reset();
  if (is_busy(process) || !shares_known(process)) {
    to.idle_since_ns.reset();
  } else if (!to.idle_since_ns) {
    to.idle_since_ns = sample.time_ns;
  }
  note_idle_cache(to, process, sample.time_ns);
  if (process.used_bytes) {
    to.memory_used.add(sample.time_ns, *process.used_bytes);
    to.growth.add(sample.time_ns, *process.used_bytes);
  }
}

const DeviceHistory* Monitor::find_device(std::string_view uuid) const {
  for (const DeviceHistory& device : devices_) {
    if (device.uuid == uuid) return &device;
  }
  return nullptr;
}

const HolderHistory* Monitor::find_holder(const ProcessKey& key, std::string_view device_uuid) const {
  for (const HolderHistory& holder : holders_) {
    if (holder.key == key && holder.device_uuid == device_uuid) return &holder;
  }
  return nullptr;
}

std::optional<std::int64_t> Monitor::time_until_full_ns(const DeviceHistory& device) const {
  constexpr std::int64_t kFewestSoFarNs = 300'000'000'000;  // a warm-up would be over
  constexpr std::int64_t kRhythmNs = 120'000'000'000;
  constexpr double kNanosecondsAnHour = 3600e9;
  const Growth& growth = device.growth.growth();
  const auto last = device.memory_used.last();
  if (growth.state == GrowthState::none || !last || !device.memory_total_bytes || growth.bytes_per_hour <= 0) {
    return std::nullopt;
  }
  if (growth.state == GrowthState::so_far && last->time_ns - growth.since_ns < kFewestSoFarNs) return std::nullopt;
  // The highest of its rhythm decides, not where it is just now.
  const auto range = device.memory_used.range_since(std::max(growth.since_ns, last->time_ns - kRhythmNs));
  const std::int64_t usable = *device.memory_total_bytes - device.memory_reserved_bytes.value_or(0);
  const std::int64_t room = usable - std::max(last->value, range ? range->second : 0);
  const double time_ns =
      static_cast<double>(std::max<std::int64_t>(room, 0)) / growth.bytes_per_hour * kNanosecondsAnHour;
  if (time_ns > 9e18) return std::nullopt;
  return static_cast<std::int64_t>(time_ns);
}

}  // namespace vramscope
