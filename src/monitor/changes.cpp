#include "monitor/changes.h"

#include <algorithm>
#include <iterator>

#include "monitor/verdict_rule.h"
#include "rules/xid_meanings.h"
#include "text/catalogue.h"
#include "text/utf8.h"
#include "text/width.h"

namespace vramscope {

namespace {

constexpr double kHigh = 0.9;
constexpr double kNormal = 0.85;
constexpr std::int64_t kSecondNs = 1'000'000'000;

std::string short_name(const HolderHistory& holder) {
  constexpr std::size_t kColumns = 60;
  const std::string& name = !holder.command.empty() ? holder.command : holder.name;
  return name.empty() ? "?" : elide_middle(printable(name), kColumns);
}

std::string label_of(const LiveSample& sample, const DeviceSample& device) {
  if (!device.parent) return std::to_string(device.index);
  const DeviceSample& gpu = sample.devices()[static_cast<std::size_t>(*device.parent)];
  return std::to_string(gpu.index) + "." + std::to_string(device.index);
}

Change make_change(const LiveSample& sample, const DeviceSample* device, ChangeKind kind, Severity severity,
                   const char* id) {
  Change change;
  change.kind = kind;
  change.severity = severity;
  change.time_ns = sample.time_ns;
  change.real_time_ns = sample.real_time_ns;
  change.message.id = id;
  if (device == nullptr) return change;
  const DeviceSample& gpu = device->parent ? sample.devices()[static_cast<std::size_t>(*device->parent)] : *device;
  change.gpu = gpu.index;
  change.gpu_uuid = std::string(device->text(Metric::uuid));
  change.message.arguments.emplace_back("gpu", text_value(label_of(sample, *device)));
  return change;
}

void add_holder_arguments(const HolderHistory& holder, Change& change) {
  change.pid = holder.key.pid;
  Arguments& arguments = change.message.arguments;
  arguments.emplace_back("pid", text_value(std::to_string(holder.key.pid)));
  arguments.emplace_back("process", text_value(short_name(holder)));
  arguments.emplace_back("user", text_value(holder.user.empty() ? "?" : printable(holder.user)));
  const auto used = holder.memory_used.last();
  arguments.emplace_back("used", used ? bytes_value(used->value) : text_value("N/A"));
}

const DeviceSample* device_named(const LiveSample& sample, const std::string& uuid) {
  for (const DeviceSample& device : sample.devices()) {
    if (device_key(sample, device) == uuid) return &device;
  }
  return nullptr;
}

struct GrowthWords {
  const char* so_far;
  const char* growing;
  const char* levelled_off;
  const char* fallen;
};

// The change of state of a growth, or of its rate to twice what was told; nothing when it is the same, or was never
// told.
std::optional<Change> growth_change(const LiveSample& sample, const std::string& uuid, const Growth& growth,
                                    ToldGrowth& told, const GrowthWords& words) {
  const GrowthState before = told.state;
  const bool is_faster = growth.state == GrowthState::growing && growth.bytes_per_hour >= 2 * told.bytes_per_hour;
  if (growth.state == before && !is_faster) return std::nullopt;
  told = {growth.state, growth.bytes_per_hour};
  const DeviceSample* device = device_named(sample, uuid);
  std::optional<Change> change;
  switch (growth.state) {
    case GrowthState::so_far:
      if (before == GrowthState::growing) return std::nullopt;
      change = make_change(sample, device, ChangeKind::growing_so_far, Severity::info, words.so_far);
      break;
    case GrowthState::growing:
      change = make_change(sample, device, ChangeKind::growing, Severity::warning, words.growing);
      break;
    case GrowthState::none:
      change = make_change(sample, device, ChangeKind::levelled_off, Severity::info,
                           growth.has_fallen ? words.fallen : words.levelled_off);
      break;
  }
  Arguments& arguments = change->message.arguments;
  arguments.emplace_back("rate", bytes_per_hour(growth.bytes_per_hour));
  arguments.emplace_back("grown", bytes_value(growth.grown_bytes));
  arguments.emplace_back("since", time_value(growth.grown_ns / kSecondNs * kSecondNs));
  return change;
}

// Ends the sentence with when the device is full.
void add_time_left(const Monitor& monitor, const DeviceHistory* device, Change& change, const char* with_time) {
  if (device == nullptr || change.kind == ChangeKind::levelled_off) return;
  const auto left = monitor.time_until_full_ns(*device);
  if (!left) return;
  if (*left > kFarAwayNs) change.severity = Severity::info;
  change.message.id = with_time;
  change.message.arguments.emplace_back("left", time_value(*left / kSecondNs * kSecondNs));
}

}  // namespace

void ChangeLog::add_holder(const LiveSample& sample, const Monitor& monitor, const HolderHistory& holder,
                           std::vector<Change>& changes) {
  auto known = holders_.find(holder.id);
  const bool is_new = known == holders_.end();
  if (is_new && holder.gone_since_ns) return;  // ended before it was followed
  if (is_new) {
    known = holders_.emplace(holder.id, HolderState{}).first;
    known->second.device_uuid = holder.device_uuid;
  }
  HolderState& state = known->second;
  const auto tell = [&](ChangeKind kind, const char* id) {
    changes.push_back(make_change(sample, device_named(sample, holder.device_uuid), kind, Severity::info, id));
    add_holder_arguments(holder, changes.back());
  };
  const bool is_back = state.has_ended && !holder.gone_since_ns;
  if (is_new || is_back) {
    state.has_ended = false;
    state.growth = {};
    tell(ChangeKind::process_start, N_("GPU {gpu}: {process} ({pid}, {user}) holds {used}"));
  } else if (holder.gone_since_ns && !state.has_ended) {
    state.has_ended = true;
    const DeviceSample* device = device_named(sample, holder.device_uuid);
    tell(ChangeKind::process_end,
         device != nullptr && device->is_lost
             ? N_("GPU {gpu}: {process} ({pid}, {user}) cannot be seen any more; it held {used}")
             : N_("GPU {gpu}: {process} ({pid}, {user}) gave back {used}"));
  }
  const Growth& growth = holder.growth.growth();
  if (state.has_ended) return;
  auto change = growth_change(sample, holder.device_uuid, growth, state.growth,
                              {N_("GPU {gpu}: {process} ({pid}) is growing so far: {grown} in {since}"),
                               N_("GPU {gpu}: {process} ({pid}) keeps growing: {rate}, {grown} in {since}"),
                               N_("GPU {gpu}: {process} ({pid}) has levelled off at {used}"),
                               N_("GPU {gpu}: {process} ({pid}) has fallen back to {used}")});
  if (!change) return;
  add_holder_arguments(holder, *change);
  add_time_left(
      monitor, monitor.find_device(holder.device_uuid), *change,
      change->kind == ChangeKind::growing
          ? N_("GPU {gpu}: {process} ({pid}) keeps growing: {rate}, {grown} in {since}; full in {left}")
          : N_("GPU {gpu}: {process} ({pid}) is growing so far: {grown} in {since}; at this rate full in {left}"));
  changes.push_back(std::move(*change));
}

void ChangeLog::add_processes(const LiveSample& sample, const Monitor& monitor, std::vector<Change>& changes) {
  for (const HolderHistory& holder : monitor.holders()) {
    if (is_followed(holder.key.pid)) add_holder(sample, monitor, holder, changes);
  }
  // What the monitor has forgotten is forgotten here too.
  if (holders_.size() <= monitor.holders().size()) return;
  std::set<std::int64_t> kept;
  for (const HolderHistory& holder : monitor.holders()) kept.insert(holder.id);
  for (auto known = holders_.begin(); known != holders_.end();) {
    known = kept.count(known->first) != 0 ? std::next(known) : holders_.erase(known);
  }
}

void ChangeLog::add_device(const LiveSample& sample, const Monitor& monitor, std::size_t place,
                           std::vector<Change>& changes) {
  const DeviceSample& device = sample.devices()[place];
  const std::string uuid = device_key(sample, device);
  const DeviceHistory* history = monitor.find_device(uuid);
  if (history == nullptr) return;
  DeviceState& state = devices_[uuid];
  const auto tell = [&](ChangeKind kind, Severity severity, const char* id) -> Change& {
    changes.push_back(make_change(sample, &device, kind, severity, id));
    return changes.back();
  };
  if (device.is_lost != state.is_lost) {
    if (device.is_lost) {
      tell(ChangeKind::gpu_lost, Severity::error, N_("GPU {gpu} is lost: it does not answer any more"));
    } else {
      tell(ChangeKind::gpu_back, Severity::info, N_("GPU {gpu} answers again"));
    }
    state.is_lost = device.is_lost;
  }
  const std::int64_t xid = device.number(Metric::xid_last).value_or(state.xid);
  if (xid > 0 && xid != state.xid && !device.parent) {
    Change& change =
        tell(ChangeKind::driver_error, meaning_of_xid(xid).severity, N_("GPU {gpu}: the driver reported Xid {xid}"));
    change.message.arguments.emplace_back("xid", text_value(std::to_string(xid)));
  }
  state.xid = xid;
  if (device.is_lost) return;
  // A log played back need not have asked for processes at all.
  const bool is_asked = device.processes_state != ValueState::not_asked;
  const bool is_hidden = is_asked && device.processes_state != ValueState::known && !device.parent;
  if (is_hidden && !state.is_hidden) {
    tell(ChangeKind::processes_hidden, Severity::info, N_("GPU {gpu}: the driver does not tell its processes"));
  }
  state.is_hidden = is_hidden;
  const auto share = used_share(device);
  if (share && !has_mig_devices(sample, device)) {
    const bool is_high = state.is_high ? *share > kNormal : *share > kHigh;
    if (is_high != state.is_high) {
      Change& change = is_high ? tell(ChangeKind::memory_high, Severity::warning,
                                      N_("GPU {gpu}: {share} of the memory is in use, {free} are left"))
                               : tell(ChangeKind::memory_normal, Severity::info,
                                      N_("GPU {gpu}: {share} of the memory is in use, {free} are free again"));
      const std::int64_t free = *usable_bytes(device) - *device.number(Metric::memory_used);
      change.message.arguments.emplace_back("share", share_value(*share));
      change.message.arguments.emplace_back("free", bytes_value(std::max<std::int64_t>(free, 0)));
    }
    state.is_high = is_high;
  }
  // Where processes tell it themselves, the device need not.
  const bool is_told = std::any_of(holders_.begin(), holders_.end(), [&](const auto& holder) {
    return holder.second.growth.state != GrowthState::none && holder.second.device_uuid == uuid;
  });
  const Growth& growth = history->growth.growth();
  if (is_told || followed_) {
    state.growth = {growth.state, growth.bytes_per_hour};
    state.is_growth_told = false;
    return;
  }
  auto change = growth_change(
      sample, uuid, growth, state.growth,
      {N_("GPU {gpu}: the memory in use is growing so far: {grown} in {since}"),
       N_("GPU {gpu}: the memory in use keeps growing: {rate}, {grown} in {since}"),
       N_("GPU {gpu}: the memory in use has levelled off"), N_("GPU {gpu}: the memory in use has fallen back")});
  if (!change || (change->kind == ChangeKind::levelled_off && !state.is_growth_told)) return;
  state.is_growth_told = change->kind != ChangeKind::levelled_off;
  add_time_left(monitor, history, *change,
                N_("GPU {gpu}: the memory in use is growing: {rate}, {grown} in {since}; full in {left}"));
  changes.push_back(std::move(*change));
}

std::vector<Change> ChangeLog::update(const LiveSample& sample, const Monitor& monitor) {
  std::vector<Change> changes;
  add_processes(sample, monitor, changes);
  // A device that none of them uses, now or before, does not concern them.
  const auto is_used = [&](const std::string& uuid) {
    return !followed_ || std::any_of(monitor.holders().begin(), monitor.holders().end(), [&](const auto& holder) {
      return holder.device_uuid == uuid && followed_->count(holder.key.pid) != 0;
    });
  };
  for (std::size_t i = 0; i < sample.devices().size(); ++i) {
    if (is_used(device_key(sample, sample.devices()[i]))) add_device(sample, monitor, i, changes);
  }
  verdicts_.update(
      {sample, monitor},
      [&](const Verdict& verdict) { return verdict.pid ? is_followed(*verdict.pid) : is_used(verdict.gpu_uuid); },
      changes);
  return changes;
}

}  // namespace vramscope
