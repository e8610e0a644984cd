#include "import/readers/recording/recorded_log.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "recording/device_series.h"

namespace vramscope::recorded {

namespace {

using recording::SeriesId;
using recording::SubjectId;
using recording::SubjectKind;

// No metric is larger; what is counts as not told.
constexpr std::int64_t kMostValue = std::int64_t{1} << 53;

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// boot:pid:ticks
std::optional<std::int64_t> pid_of(std::string_view key) {
  const std::size_t last = key.rfind(':');
  const std::size_t before = last == key.npos || last == 0 ? key.npos : key.rfind(':', last - 1);
  if (before == key.npos) return std::nullopt;
  const auto pid = whole_number(key.substr(before + 1, last - before - 1));
  return pid && *pid > 0 ? pid : std::nullopt;
}

std::int32_t instance_of(std::string_view text) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(whole_number(text).value_or(-1), -1, INT32_MAX));
}

LogProcessType type_of(std::string_view text) {
  constexpr LogProcessType kTypes[] = {LogProcessType::compute, LogProcessType::graphics, LogProcessType::both};
  const auto number = whole_number(text);
  return number && *number >= 0 && *number < 3 ? kTypes[*number] : LogProcessType::unknown;
}

}  // namespace

void RecordedLog::add_subject(SubjectId id, SubjectKind kind, std::string_view key, SubjectId parent) {
  constexpr std::size_t kMostDevices = 512;
  const auto above = devices_.find(parent);
  if (kind == SubjectKind::device) {
    if (devices_.size() >= kMostDevices || devices_.count(id) != 0) return;
    LogDevice device;
    if (above != devices_.end()) device.parent = above->second;
    const std::uint32_t place = builder_.add_device(std::move(device));
    devices_.emplace(id, place);
    builder_.set_text(place, Metric::uuid, key);
    return;
  }
  const auto pid = pid_of(key);
  if (kind != SubjectKind::process || !pid) return;
  const auto [known, is_new] = process_ids_.try_emplace(std::string(key), 0);
  if (is_new) known->second = builder_.add_process({*pid, {}});
  Process& process = processes_[id];
  process.use.process = known->second;
  if (above == devices_.end()) return;
  process.device = above->second;
  process.use.device = builder_.device(above->second).parent.value_or(above->second);
}

void RecordedLog::set_attribute(SubjectId subject, std::string_view name, std::string_view value) {
  if (const auto found = devices_.find(subject); found != devices_.end()) {
    LogDevice& device = builder_.device(found->second);
    const auto number = whole_number(value);
    if (name == "index" && number && *number >= 0) device.index = number;
    if (name == "gpu_instance") device.gpu_instance = number;
    if (name == "compute_instance") device.compute_instance = number;
    const auto metric = metric_named(name);
    if (metric) builder_.set_text(found->second, *metric, value);
    return;
  }
  const auto found = processes_.find(subject);
  if (found == processes_.end() || value.empty()) return;
  Process& process = found->second;
  if (name == "type") process.use.type = type_of(value);
  if (name == "gpu_instance") process.use.gpu_instance = instance_of(value);
  if (name == "compute_instance") process.use.compute_instance = instance_of(value);
  // The command line says more than the name.
  LogProcess& told = builder_.process(process.use.process);
  if (name == "command" || (name == "name" && told.name.empty())) told.name = std::string(value);
}

void RecordedLog::add_series(SeriesId id, SubjectId subject, std::string_view metric) {
  Target target;
  target.subject = subject;
  if (devices_.count(subject) != 0) {
    target.metric = metric_named(metric);
    if (target.metric) series_[id] = target;
    return;
  }
  constexpr std::string_view kShares[] = {kSeriesSmShare, kSeriesMemoryShare, kSeriesEncoderShare, kSeriesDecoderShare};
  const auto* share = std::find(std::begin(kShares), std::end(kShares), metric);
  if (share != std::end(kShares)) target.share = static_cast<std::size_t>(share - std::begin(kShares));
  target.is_used = metric == kSeriesUsed;
  if (target.is_used || target.share) series_[id] = target;
}

void RecordedLog::add_samples(const std::vector<recording::Sample>& samples, std::int64_t offset_ns) {
  std::vector<const recording::Sample*> sorted;
  for (const recording::Sample& sample : samples) {
    if (recording::is_plausible_time(sample.time_ns) && series_.count(sample.series) != 0) sorted.push_back(&sample);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->time_ns < b->time_ns; });
  for (const recording::Sample* sample : sorted) {
    // The last moment of the chunk before may go on here.
    if (open_ns_ != sample->time_ns) {
      end_moment();
      open_ns_ = sample->time_ns;
      builder_.begin_moment(sample->time_ns + offset_ns);
    }
    take_sample(*sample);
  }
}

void RecordedLog::take_sample(const recording::Sample& sample) {
  const Target& target = series_.at(sample.series);
  const bool is_sane = sample.value >= -kMostValue && sample.value <= kMostValue;
  const bool is_known = is_sane && sample.validity == recording::Validity::known;
  if (target.metric) {
    const ValueState state = is_sane ? state_of(sample.validity) : ValueState::not_supported;
    builder_.set(devices_.at(target.subject), *target.metric, state, sample.value);
    return;
  }
  const auto process = processes_.find(target.subject);
  if (process == processes_.end() || !process->second.device) return;
  LogUse& use = uses_.try_emplace(target.subject, process->second.use).first->second;
  if (target.is_used) {
    use.used_state = is_known ? ValueState::known : state_of(sample.validity);
    if (is_known) use.used_bytes = sample.value;
  } else if (is_known) {
    use.share_percent[*target.share] = static_cast<std::int16_t>(std::clamp<std::int64_t>(sample.value, 0, 100));
  }
}

void RecordedLog::end_moment() {
  if (!open_ns_) return;
  builder_.list_processes();
  for (const auto& [subject, use] : uses_) builder_.add_use(use);
  uses_.clear();
}

std::optional<DeviceLog> RecordedLog::take() {
  end_moment();
  open_ns_.reset();
  if (builder_.empty()) return std::nullopt;
  return builder_.take(LogClock::zoned, "recording");
}

}  // namespace vramscope::recorded
