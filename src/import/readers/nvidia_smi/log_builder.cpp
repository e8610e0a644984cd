#include "import/readers/nvidia_smi/log_builder.h"

#include <algorithm>

#include "import/device_timeline.h"

namespace vramscope::nvidia_smi {

namespace {

// More than any machine has; what goes beyond is counted and left out.
constexpr std::size_t kMostDevices = 512;
constexpr std::size_t kMostProcesses = std::size_t{1} << 20;
constexpr std::size_t kMostUnknown = 4096;
constexpr std::size_t kMostTexts = std::size_t{1} << 20;
constexpr std::uint32_t kMostMoments = 1u << 30;

// "0000:02:00.0" and "00000000:02:00.0" are the same place.
std::string normal_bus_id(std::string_view text) {
  text = trimmed(text);
  if (parse_marker(text)) return {};
  const std::size_t domain = text.find(':');
  const std::size_t second = domain == text.npos ? text.npos : text.find(':', domain + 1);
  if (second == text.npos) return {};
  constexpr std::size_t kDomainDigits = 8;
  std::string made(domain < kDomainDigits ? kDomainDigits - domain : 0, '0');
  for (const char c : text) made += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return made;
}

std::string normal_uuid(std::string_view text) {
  text = trimmed(text);
  if (text.empty() || parse_marker(text) || is_blank_uuid(text)) return {};
  return std::string(text);
}

}  // namespace

LogBuilder::LogBuilder() : told_(kMetricCount) {}

void LogBuilder::begin_moment() {
  end_moment();
  if (log_.moments >= kMostMoments) return;
  is_open_ = true;
  has_time_ = false;
  ++log_.moments;
  log_.first_use.push_back(static_cast<std::uint32_t>(log_.uses.size()));
  log_.tells_processes.push_back(0);
  log_.time_ns.push_back(kNoLogValue);
}

// What the moment did not tell is not told from here on. Looks at what was told till now alone: devices that came once
// cost nothing later.
void LogBuilder::end_moment() {
  if (!is_open_) return;
  is_open_ = false;
  const std::uint32_t now = log_.moments - 1;
  const auto ends = [&](const std::pair<std::uint32_t, std::uint16_t>& at) {
    if (slots_[at.first].told_at[at.second] == now) return false;
    LogSeries& series = log_.devices[at.first].series[at.second];
    series.moment.push_back(now);
    series.value.push_back(0);
    series.state.push_back(ValueState::not_asked);
    return true;
  };
  told_now_.erase(std::remove_if(told_now_.begin(), told_now_.end(), ends), told_now_.end());
}

void LogBuilder::set_time(const LogTime& time, std::int64_t offset) {
  if (!is_open_) begin_moment();
  if (has_time_ || !is_open_) return;
  log_.is_date_order_assumed = log_.is_date_order_assumed || time.is_order_assumed;
  if (!first_time_) first_time_ = time;
  if (time.clock != first_time_->clock) return note("other_clock", offset);
  has_time_ = true;
  constexpr std::int64_t kDay = 86'400'000'000'000;
  std::int64_t ns = time.ns;
  if (time.clock == LogClock::time_of_day) {
    // Half a day back is the next day; less is a clock that was set.
    if (last_time_ns_ && ns + midnight_ns_ < *last_time_ns_ - kDay / 2) midnight_ns_ += kDay;
    ns += midnight_ns_;
  }
  if (last_time_ns_ && ns < *last_time_ns_) {
    note("time_falls", offset);
    ns = *last_time_ns_;
  }
  last_time_ns_ = ns;
  log_.time_ns.back() = ns;
}

std::uint32_t LogBuilder::add_device() {
  if (log_.devices.size() >= kMostDevices) {
    note("too_many_devices", 0);
    return kNoDevice;
  }
  log_.devices.emplace_back();
  slots_.emplace_back();
  slots_.back().place.resize(kMetricCount);
  return static_cast<std::uint32_t>(log_.devices.size() - 1);
}

void LogBuilder::learn(std::uint32_t at, const DeviceKey& key, const std::string& uuid, const std::string& bus_id) {
  if (at == kNoDevice) return;
  if (!log_.devices[at].index) log_.devices[at].index = key.index;
  if (slots_[at].uuid.empty()) slots_[at].uuid = uuid;
  if (slots_[at].bus_id.empty()) slots_[at].bus_id = bus_id;
}

void LogBuilder::learn_uuid(std::uint32_t device, std::string_view uuid) {
  learn(device, {}, normal_uuid(uuid), {});
}

std::uint32_t LogBuilder::device(const DeviceKey& key) {
  const std::string uuid = normal_uuid(key.uuid);
  const std::string bus_id = normal_bus_id(key.bus_id);
  const auto find = [&](const auto& is_it) -> std::optional<std::uint32_t> {
    for (std::uint32_t at = 0; at < log_.devices.size(); ++at) {
      if (!log_.devices[at].parent && is_it(at)) return at;
    }
    return std::nullopt;
  };
  std::optional<std::uint32_t> found;
  if (!bus_id.empty()) found = find([&](std::uint32_t at) { return slots_[at].bus_id == bus_id; });
  if (!found && !uuid.empty()) found = find([&](std::uint32_t at) { return slots_[at].uuid == uuid; });
  // By its number, unless the rest tells of another one.
  const auto agrees = [&](const std::string& known, const std::string& told) {
    return known.empty() || told.empty() || known == told;
  };
  if (!found && key.index) {
    found = find([&](std::uint32_t at) {
      return log_.devices[at].index == key.index && agrees(slots_[at].bus_id, bus_id) && agrees(slots_[at].uuid, uuid);
    });
  }
  const bool has_key = key.index || !uuid.empty() || !bus_id.empty();
  // A device that nothing was known of may be this one.
  if (!found) {
    found = find([&](std::uint32_t at) {
      const bool is_nameless = !log_.devices[at].index && slots_[at].uuid.empty() && slots_[at].bus_id.empty();
      return !has_key || is_nameless;
    });
  }
  const std::uint32_t at = found ? *found : add_device();
  learn(at, key, uuid, bus_id);
  return at;
}

std::uint32_t LogBuilder::mig_device(std::uint32_t gpu, std::optional<std::int64_t> index,
                                     std::optional<std::int64_t> gpu_instance,
                                     std::optional<std::int64_t> compute_instance) {
  for (std::uint32_t at = 0; at < log_.devices.size(); ++at) {
    const LogDevice& device = log_.devices[at];
    if (device.parent != gpu) continue;
    if (gpu_instance ? device.gpu_instance == gpu_instance && device.compute_instance == compute_instance
                     : device.index == index) {
      return at;
    }
  }
  const std::uint32_t at = gpu == kNoDevice ? kNoDevice : add_device();
  if (at == kNoDevice) return at;
  log_.devices[at].parent = gpu;
  log_.devices[at].index = index;
  log_.devices[at].gpu_instance = gpu_instance;
  log_.devices[at].compute_instance = compute_instance;
  return at;
}

std::int64_t LogBuilder::text_id(std::string_view text) {
  const auto [place, is_new] = text_ids_.try_emplace(std::string(text), static_cast<std::int64_t>(log_.texts.size()));
  if (is_new) log_.texts.emplace_back(text);
  return place->second;
}

void LogBuilder::set(std::uint32_t device, Metric metric, const Cell& cell) {
  if (cell.state == ValueState::not_asked || device == kNoDevice) return;
  if (!is_open_) begin_moment();
  if (!is_open_) return;
  std::int64_t value = cell.number;
  if (cell.state == ValueState::known && info_of(metric).unit == MetricUnit::text) {
    if (log_.texts.size() >= kMostTexts) return note("too_many_texts", 0);
    value = text_id(cell.text);
  }
  Slot& slot = slots_[device];
  std::vector<LogSeries>& all = log_.devices[device].series;
  std::uint16_t& place = slot.place[index_of(metric)];
  if (place == 0) {
    all.emplace_back();
    all.back().metric = metric;
    slot.told_at.push_back(UINT32_MAX);
    place = static_cast<std::uint16_t>(all.size());
  }
  LogSeries& series = all[place - 1u];
  const std::uint32_t now = log_.moments - 1;
  std::uint32_t& told_at = slot.told_at[place - 1u];
  const bool is_again = told_at == now;
  if (series.state.empty() || series.state.back() == ValueState::not_asked) {
    told_now_.emplace_back(device, static_cast<std::uint16_t>(place - 1u));
  }
  told_at = now;
  if (!is_again) ++told_[index_of(metric)];
  if (!series.state.empty() && series.state.back() == cell.state && series.value.back() == value) return;
  if (is_again && series.moment.back() == now) {  // the later one counts
    series.value.back() = value;
    series.state.back() = cell.state;
    return;
  }
  series.moment.push_back(now);
  series.value.push_back(value);
  series.state.push_back(cell.state);
}

void LogBuilder::set_text(std::uint32_t device, Metric metric, std::string_view text, std::string_view unit,
                          std::int64_t offset) {
  const Cell cell = parse_cell(info_of(metric), text, unit);
  if (cell.state == ValueState::not_asked && !trimmed(text).empty()) note("odd_value", offset);
  set(device, metric, cell);
}

void LogBuilder::list_processes() {
  if (!is_open_) begin_moment();
  if (is_open_) log_.tells_processes.back() = 1;
}

void LogBuilder::add_use(LogUse use, std::int64_t pid, std::string_view name) {
  list_processes();
  if (!is_open_ || use.device == kNoDevice || log_.uses.size() >= UINT32_MAX - 1) return;
  auto key = std::make_pair(pid, std::string(trimmed(name)));
  if (key.second == "-" || key.second == "[N/A]" || key.second == "N/A") key.second.clear();
  const auto known = process_ids_.find(key);
  if (known != process_ids_.end()) {
    use.process = known->second;
  } else if (log_.processes.size() < kMostProcesses) {
    use.process = static_cast<std::uint32_t>(log_.processes.size());
    log_.processes.push_back({pid, key.second});
    process_ids_.emplace(std::move(key), use.process);
  } else {
    return note("too_many_processes", 0);
  }
  log_.uses.push_back(use);
}

void LogBuilder::add_part(const char* part) {
  if (std::find(log_.parts.begin(), log_.parts.end(), part) == log_.parts.end()) log_.parts.emplace_back(part);
}

void LogBuilder::unknown_field(std::string_view name) {
  const auto found = unknown_.find(std::string(name));
  if (found != unknown_.end()) {
    ++found->second;
  } else if (unknown_.size() < kMostUnknown) {
    unknown_.emplace(std::string(name), 1);
  }
}

void LogBuilder::note(const char* trouble, std::int64_t offset, std::int64_t count) {
  if (count <= 0) return;
  const auto [place, is_new] = trouble_.try_emplace(trouble, Trouble{trouble, 0, offset});
  place->second.count += count;
  if (!is_new) place->second.first_offset = std::min(place->second.first_offset, offset);
}

// A moment without a time gets that of the one before it, or of the first that has one.
void LogBuilder::finish_times() {
  if (!first_time_) {
    log_.time_ns.clear();
    return;
  }
  log_.clock = first_time_->clock;
  std::int64_t before = kNoLogValue;
  for (const std::int64_t ns : log_.time_ns) {
    if (before == kNoLogValue) before = ns;
  }
  for (std::int64_t& ns : log_.time_ns) {
    if (ns == kNoLogValue) {
      ns = before;
      ++log_.untimed_moments;
    }
    before = ns;
  }
}

void LogBuilder::fill_source(Source& source) {
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    if (told_[m] > 0)
      source.events_by_category.push_back({std::string(info_of(static_cast<Metric>(m)).name), told_[m]});
  }
  const auto uses = static_cast<std::int64_t>(log_.uses.size());
  const auto lists =
      static_cast<std::int64_t>(std::count(log_.tells_processes.begin(), log_.tells_processes.end(), std::uint8_t{1}));
  if (uses > 0) source.events_by_category.push_back({"process", uses});
  if (lists > 0) source.events_by_category.push_back({"process_list", lists});
  std::sort(source.events_by_category.begin(), source.events_by_category.end(),
            [](const CategoryCount& a, const CategoryCount& b) { return a.name < b.name; });
  for (const CategoryCount& count : source.events_by_category) source.events += count.events;
  if (!log_.time_ns.empty() && log_.clock != LogClock::time_of_day) {
    source.start_ns = log_.time_ns[0];
    source.end_ns = log_.time_ns.back();
  }
  for (std::size_t d = 0; d < log_.devices.size(); ++d) {
    if (log_.devices[d].parent) continue;
    DeviceInfo info;
    info.id = static_cast<std::int32_t>(std::clamp<std::int64_t>(shown_index(log_, d), -1, INT32_MAX));
    for (const LogSeries& series : log_.devices[d].series) {
      for (std::size_t run = series.state.size(); run-- > 0;) {
        if (series.state[run] != ValueState::known) continue;
        if (series.metric == Metric::name) info.name = log_.texts[static_cast<std::size_t>(series.value[run])];
        if (series.metric == Metric::memory_total) info.total_memory_bytes = series.value[run];
        break;
      }
    }
    source.environment.devices.push_back(std::move(info));
  }
}

void LogBuilder::finish(Source& source) {
  end_moment();
  log_.first_use.push_back(static_cast<std::uint32_t>(log_.uses.size()));
  finish_times();
  log_.unknown_fields.assign(unknown_.begin(), unknown_.end());
  fill_source(source);
  const std::uint32_t step = timeline_step(log_);
  if (step > 1) note("timeline_thinned", 0, step);
  source.memory_timeline = timeline_of(log_);
  for (const auto& [name, trouble] : trouble_) source.trouble.push_back(trouble);
  source.device_log = std::move(log_);
}

}  // namespace vramscope::nvidia_smi
