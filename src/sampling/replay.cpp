#include "sampling/replay.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "recording/device_series.h"
#include "recording/playback.h"
#include "recording/reader.h"
#include "sampling/recorder.h"

namespace vramscope {

namespace {

using recording::SeriesId;
using recording::SubjectId;
using recording::SubjectKind;
using recording::Validity;

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// No metric is larger: 2^53 bytes, milliwatts …
constexpr std::int64_t kMostValue = std::int64_t{1} << 53;

// What a series is of.
enum class Field : std::uint8_t { metric, use, cpu, rss, state };

struct SeriesTarget {
  SubjectId subject = recording::kNoId;
  Field field = Field::metric;
  Metric metric = Metric::index;
  std::optional<std::int64_t> DeviceProcess::*use = nullptr;
};

struct PlayedDevice {
  DeviceSample sample;
  SubjectId parent = recording::kNoId;
};

// A process as the host saw it, or its use of one device.
struct PlayedProcess {
  std::int32_t pid = 0;
  SubjectId device = recording::kNoId;  // of a use
  HostProcess host;
  DeviceProcess use;
  std::int64_t time_ns = 0;  // of its last sample
};

class ReplaySampler : public Sampler, private recording::Visitor {
 public:
  ReplaySampler(std::unique_ptr<recording::Reader> reader, double speed, std::vector<Trouble> trouble)
      : reader_(std::move(reader)), trouble_(std::move(trouble)), playback_(*reader_, *this), speed_(speed) {
    sample_.is_played_back = true;
    if (!trouble_.empty()) sample_.trouble = &trouble_;
    sample_.device_list = &devices_;
  }

  // False: there is no moment with a device.
  bool start() {
    while (next_moment()) {
      if (!device_subjects_.empty()) return true;
    }
    return false;
  }
  // Passes over moments that no clock can show.
  bool next_moment() {
    do {
      has_moment_ = playback_.next(moment_);
    } while (has_moment_ && !recording::is_plausible_time(moment_.time_ns));
    return has_moment_;
  }
  const LiveSample* sample() override;
  std::int64_t due_ns() const override { return due_ns_; }
  bool is_played_back() const override { return true; }

 private:
  void on_subject(SubjectId id, SubjectKind kind, std::string_view key, SubjectId parent) override;
  void on_attribute(SubjectId subject, std::string_view name, std::string_view value) override;
  void on_series(SeriesId id, SubjectId subject, std::string_view metric, std::string_view unit) override;
  void on_clock(const recording::ClockPoint& point) override {
    const bool is_plausible = recording::is_plausible_time(point.value) && recording::is_plausible_time(point.time_ns);
    if (point.clock == recording::Clock::realtime && is_plausible) real_offset_ns_ = point.value - point.time_ns;
  }
  void take(const recording::Sample& from);
  void build_devices();
  void build_processes();

  std::unique_ptr<recording::Reader> reader_;
  std::vector<Trouble> trouble_;
  recording::Playback playback_;
  double speed_;
  recording::Moment moment_;
  bool has_moment_ = false;
  std::optional<std::int64_t> first_time_ns_;
  std::int64_t began_ns_ = 0;
  std::int64_t due_ns_ = 0;
  std::int64_t real_offset_ns_ = 0;
  std::map<SubjectId, PlayedDevice> device_subjects_;
  std::unordered_map<SubjectId, PlayedProcess> process_subjects_;
  std::unordered_map<SeriesId, SeriesTarget> series_;
  std::vector<DeviceSample> devices_;
  std::set<ProcessKey> users_;  // what a device names at this moment
  LiveSample sample_;
};

void ReplaySampler::on_subject(SubjectId id, SubjectKind kind, std::string_view key, SubjectId parent) {
  if (kind == SubjectKind::device) {
    PlayedDevice& device = device_subjects_[id];
    device.parent = parent;
    device.sample.values.set_text(Metric::uuid, key);
    device.sample.values.set(Metric::index, 0);
    return;
  }
  if (kind != SubjectKind::process) return;
  // boot:pid:ticks
  const std::size_t last = key.rfind(':');
  const std::size_t before = last == key.npos || last == 0 ? key.npos : key.rfind(':', last - 1);
  if (before == key.npos) return;
  const auto pid = whole_number(key.substr(before + 1, last - before - 1));
  const auto ticks = whole_number(key.substr(last + 1));
  if (!pid || *pid <= 0 || *pid > INT32_MAX || !ticks) return;
  PlayedProcess& process = process_subjects_[id];
  process.pid = static_cast<std::int32_t>(*pid);
  process.use.pid = *pid;
  process.host.pid = process.pid;
  process.host.process.key = {process.pid, *ticks};
  process.host.presence = Presence::absent;
  if (device_subjects_.count(parent) != 0) process.device = parent;
}

void ReplaySampler::on_attribute(SubjectId subject, std::string_view name, std::string_view value) {
  const std::string text(value);
  if (const auto device = device_subjects_.find(subject); device != device_subjects_.end()) {
    DeviceSample& sample = device->second.sample;
    const auto number = whole_number(value);
    if (name == "index" && number && *number >= 0 && *number < 100'000) {
      sample.index = static_cast<int>(*number);
      sample.values.set(Metric::index, *number);
    } else if (name == "gpu_instance") {
      sample.gpu_instance = number;
    } else if (name == "compute_instance") {
      sample.compute_instance = number;
    } else if (const auto metric = metric_named(name); metric && info_of(*metric).unit == MetricUnit::text) {
      sample.values.set_text(*metric, value);
    }
    return;
  }
  const auto found = process_subjects_.find(subject);
  if (found == process_subjects_.end()) return;
  PlayedProcess& played = found->second;
  HostProcess& host = played.host;
  const auto number = whole_number(value);
  if (value.empty()) return;  // the same as not told
  if (name == "name") {
    host.presence = Presence::seen;
    host.process.name = text;
  } else if (name == "user") {
    host.process.user = text;
  } else if (name == "command") {
    host.process.command = text;
  } else if (name == "cgroup") {
    host.process.cgroup = text;
    host.process.placement = placement_of_path(text);
  } else if (name == "parent_name") {
    host.parent_name = text;
  } else if (name == "parent" && number && *number >= 0 && *number <= INT32_MAX) {
    host.process.ppid = static_cast<std::int32_t>(*number);
  } else if (name == "orphan") {
    host.is_orphan = text == "1";
  } else if (name == "start_time") {
    host.process.start_time_ns = number && recording::is_plausible_time(*number) ? number : std::nullopt;
  } else if (name == "type" && number && *number >= 0 && *number <= 2) {
    played.use.type = static_cast<ProcessType>(*number);
  } else if (name == "mps") {
    played.use.is_mps = text == "1";
  } else if (name == "gpu_instance") {
    played.use.gpu_instance = number;
  } else if (name == "compute_instance") {
    played.use.compute_instance = number;
  }
}

void ReplaySampler::on_series(SeriesId id, SubjectId subject, std::string_view metric, std::string_view /*unit*/) {
  SeriesTarget target;
  target.subject = subject;
  if (device_subjects_.count(subject) != 0) {
    const auto known = metric_named(metric);
    if (!known || info_of(*known).unit == MetricUnit::text) return;  // of a later version
    target.metric = *known;
    series_[id] = target;
    return;
  }
  struct Known {
    std::string_view name;
    Field field;
    std::optional<std::int64_t> DeviceProcess::*use = nullptr;
  };
  static constexpr Known kKnown[] = {
      {kSeriesUsed, Field::use, &DeviceProcess::used_bytes},
      {kSeriesSmShare, Field::use, &DeviceProcess::sm_percent},
      {kSeriesMemoryShare, Field::use, &DeviceProcess::memory_percent},
      {kSeriesEncoderShare, Field::use, &DeviceProcess::encoder_percent},
      {kSeriesDecoderShare, Field::use, &DeviceProcess::decoder_percent},
      {kSeriesAllocatorReserved, Field::use, &DeviceProcess::allocator_reserved_bytes},
      {kSeriesAllocatorAllocated, Field::use, &DeviceProcess::allocator_allocated_bytes},
      {kSeriesAllocatorActive, Field::use, &DeviceProcess::allocator_active_bytes},
      {kSeriesCpu, Field::cpu},
      {kSeriesRss, Field::rss},
      {kSeriesState, Field::state},
  };
  for (const Known& known : kKnown) {
    if (known.name != metric) continue;
    target.field = known.field;
    target.use = known.use;
    series_[id] = target;
  }
}

void ReplaySampler::take(const recording::Sample& from) {
  recording::Sample sample = from;
  // Beyond what can be: not told, rather than wrong.
  if (sample.value < -kMostValue || sample.value > kMostValue) sample.validity = Validity::missing;
  const auto found = series_.find(sample.series);
  if (found == series_.end()) return;
  const SeriesTarget& target = found->second;
  if (target.field == Field::metric) {
    const auto device = device_subjects_.find(target.subject);
    if (device == device_subjects_.end()) return;
    MetricValues& values = device->second.sample.values;
    if (sample.validity == Validity::known) {
      values.set(target.metric, sample.value);
    } else {
      values.set_missing(target.metric, state_of(sample.validity));
    }
    if (sample.validity == Validity::lost) device->second.sample.is_lost = true;
    return;
  }
  const auto process = process_subjects_.find(target.subject);
  if (process == process_subjects_.end()) return;
  PlayedProcess& played = process->second;
  played.time_ns = sample.time_ns;
  std::optional<std::int64_t> value;
  if (sample.validity == Validity::known) value = sample.value;
  switch (target.field) {
    case Field::metric:
      break;
    case Field::use:
      played.use.*target.use = value;
      break;
    case Field::rss:
      played.host.process.rss_bytes = value;
      break;
    case Field::cpu:
      played.host.process.cpu_percent.reset();
      if (value) played.host.process.cpu_percent = static_cast<double>(*value);
      break;
    case Field::state:
      played.host.process.state.reset();
      if (value && *value > ' ' && *value < 127) played.host.process.state = static_cast<char>(*value);
      break;
  }
}

// GPUs in the order of their subjects, MIG devices behind their GPU.
void ReplaySampler::build_devices() {
  devices_.clear();
  users_.clear();
  std::map<SubjectId, std::size_t> places;
  for (auto& [id, device] : device_subjects_) {
    if (device_subjects_.count(device.parent) != 0) continue;
    places[id] = devices_.size();
    device.sample.parent.reset();
    devices_.push_back(device.sample);
    for (auto& [mig_id, mig] : device_subjects_) {
      if (mig.parent != id) continue;
      mig.sample.parent = static_cast<int>(places[id]);
      devices_.push_back(mig.sample);
    }
  }
  for (auto& [id, process] : process_subjects_) {
    const auto place = places.find(process.device);
    if (place == places.end() || process.time_ns != moment_.time_ns) continue;
    devices_[place->second].processes.push_back(process.use);
    users_.insert(process.host.process.key);
  }
  for (DeviceSample& device : devices_) {
    device.processes_state = device.is_lost ? ValueState::lost : ValueState::known;
    std::sort(device.processes.begin(), device.processes.end(),
              [](const DeviceProcess& a, const DeviceProcess& b) { return a.pid < b.pid; });
  }
}

void ReplaySampler::build_processes() {
  sample_.processes.clear();
  for (auto& [id, process] : process_subjects_) {
    if (process.device != recording::kNoId || users_.count(process.host.process.key) == 0) continue;
    process.time_ns = moment_.time_ns;
    sample_.processes.push_back(process.host);
    HostProcess& host = sample_.processes.back();
    if (host.process.start_time_ns) host.age_ns = sample_.real_time_ns - *host.process.start_time_ns;
  }
  std::sort(sample_.processes.begin(), sample_.processes.end(),
            [](const HostProcess& a, const HostProcess& b) { return a.pid < b.pid; });
  // What ended long ago is let go; a subject that comes again is told again.
  constexpr std::int64_t kForgetNs = 60'000'000'000;
  for (auto process = process_subjects_.begin(); process != process_subjects_.end();) {
    const std::int64_t time_ns = process->second.time_ns;
    const bool is_old = time_ns != 0 && moment_.time_ns - time_ns > kForgetNs;
    process = is_old ? process_subjects_.erase(process) : std::next(process);
  }
}

const LiveSample* ReplaySampler::sample() {
  if (!has_moment_) return nullptr;
  for (auto& [id, device] : device_subjects_) device.sample.is_lost = false;
  for (const recording::Sample& sample : moment_.samples) take(sample);
  sample_.time_ns = std::max(sample_.time_ns, moment_.time_ns);
  sample_.real_time_ns = moment_.time_ns + real_offset_ns_;
  build_devices();
  build_processes();
  if (!first_time_ns_) {
    first_time_ns_ = moment_.time_ns;
    began_ns_ = monotonic_now_ns();
  }
  if (next_moment() && speed_ > 0) {
    due_ns_ = began_ns_ + std::llround(static_cast<double>(moment_.time_ns - *first_time_ns_) / speed_);
  }
  return &sample_;
}

}  // namespace

std::unique_ptr<Sampler> play_back(std::unique_ptr<recording::Reader> reader, double speed,
                                   std::vector<Trouble> trouble) {
  auto sampler = std::make_unique<ReplaySampler>(std::move(reader), speed, std::move(trouble));
  if (!sampler->start()) return nullptr;
  return sampler;
}

}  // namespace vramscope
