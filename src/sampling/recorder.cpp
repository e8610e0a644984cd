#include "sampling/recorder.h"

#include <cmath>

#include "fmt/format.h"

namespace vramscope {

namespace {

using recording::kNoId;
using recording::Sample;
using recording::Subject;
using recording::SubjectKind;
using recording::Validity;

std::string_view unit_name(MetricUnit unit) {
  switch (unit) {
    case MetricUnit::bytes:
      return "bytes";
    case MetricUnit::bytes_per_second:
      return "bytes/s";
    case MetricUnit::percent:
      return "percent";
    case MetricUnit::milliwatts:
      return "milliwatts";
    case MetricUnit::millijoules:
      return "millijoules";
    case MetricUnit::megahertz:
      return "megahertz";
    case MetricUnit::celsius:
      return "celsius";
    case MetricUnit::milliseconds:
      return "milliseconds";
    case MetricUnit::microseconds:
      return "microseconds";
    case MetricUnit::text:
    case MetricUnit::count:
    case MetricUnit::flag:
    case MetricUnit::choice:
    case MetricUnit::mask:
      break;
  }
  return {};
}

std::optional<Validity> validity_of(ValueState state) {
  switch (state) {
    case ValueState::known:
      return Validity::known;
    case ValueState::not_asked:
      return std::nullopt;
    case ValueState::not_supported:
      return Validity::not_supported;
    case ValueState::no_permission:
      return Validity::no_permission;
    case ValueState::failed:
      return Validity::failed;
    case ValueState::lost:
      return Validity::lost;
  }
  return std::nullopt;
}

constexpr std::int64_t kOnceRhythmNs = 60'000'000'000;

std::string use_key(std::string_view uuid, std::int64_t pid) {
  return fmt::format("{}/{}", uuid, pid);
}

void keep_first(std::optional<Error>& first, std::optional<Error> next) {
  if (!first) first = std::move(next);
}

}  // namespace

Result<std::unique_ptr<Recorder>> Recorder::open(const std::string& path, const Options& options,
                                                 const MachineFacts& machine) {
  const std::int64_t now_ns = recording::read_clocks().realtime_ns;
  recording::RunInfo run;
  run.start_ns = now_ns;
  run.host_name = machine.host_name.value_or("");
  run.boot_id = machine.boot_id.value_or("");
  run.program = options.program;
  run.command = options.command;
  recording::WriterOptions writer_options;
  writer_options.replace = options.replace;
  std::shared_ptr<recording::ClockReading> clocks;
  if (options.is_played_back) {
    clocks = std::make_shared<recording::ClockReading>(recording::ClockReading{0, 0, now_ns});
    writer_options.clocks = [clocks] { return *clocks; };
  }
  auto writer = recording::Writer::open(path, run, writer_options);
  if (!writer) return writer.error();
  return std::unique_ptr<Recorder>(new Recorder(std::move(*writer), std::move(clocks), machine));
}

Recorder::Recorder(std::unique_ptr<recording::Writer> writer, std::shared_ptr<recording::ClockReading> clocks,
                   const MachineFacts& machine)
    : writer_(std::move(writer)), clocks_(std::move(clocks)), boot_id_(machine.boot_id.value_or("")) {
  host_ = writer_->add_subject({SubjectKind::host, boot_id_, kNoId, {{"name", machine.host_name.value_or("")}}});
}

std::optional<Error> Recorder::put(recording::SeriesId series, std::int64_t time_ns,
                                   std::optional<std::int64_t> value) {
  return writer_->append(Sample{series, value ? Validity::known : Validity::missing, time_ns, value.value_or(0)});
}

std::optional<Error> Recorder::add(const LiveSample& sample) {
  std::optional<Error> first;
  ++round_;
  if (clocks_ != nullptr) *clocks_ = {sample.time_ns, sample.time_ns, sample.real_time_ns};
  const std::vector<DeviceSample>& devices = sample.devices();
  for (std::size_t i = 0; i < devices.size(); ++i) keep_first(first, add_device(sample, i));
  for (const HostProcess& process : sample.processes) keep_first(first, add_process(sample, process));
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (const DeviceProcess& process : devices[i].processes) keep_first(first, add_use(sample, i, process));
  }
  end_gone();
  keep_first(first, writer_->flush_if_due(sample.time_ns));
  return first;
}

Recorder::Device& Recorder::device(const LiveSample& sample, std::size_t place) {
  const DeviceSample& from = sample.devices()[place];
  std::string uuid(from.text(Metric::uuid));
  if (uuid.empty()) uuid = fmt::format("device {}", place);
  const auto [found, is_new] = devices_.try_emplace(uuid);
  Device& device = found->second;
  if (!is_new) return device;
  const recording::SubjectId parent =
      from.parent ? this->device(sample, static_cast<std::size_t>(*from.parent)).subject : host_;
  Subject subject{SubjectKind::device, uuid, parent, {{"index", std::to_string(from.index)}}};
  for (const MetricInfo& info : metric_table()) {
    if (info.unit != MetricUnit::text || info.cost != Cost::once || from.text(info.id).empty()) continue;
    subject.attributes.emplace_back(info.name, from.text(info.id));
  }
  if (from.gpu_instance) subject.attributes.emplace_back("gpu_instance", std::to_string(*from.gpu_instance));
  if (from.compute_instance) {
    subject.attributes.emplace_back("compute_instance", std::to_string(*from.compute_instance));
  }
  // The reference stays good: nodes of an unordered_map do not move.
  device.subject = writer_->add_subject(subject);
  device.series.assign(kMetricCount, kNoId);
  return device;
}

std::optional<Error> Recorder::add_device(const LiveSample& sample, std::size_t place) {
  std::optional<Error> first;
  const DeviceSample& from = sample.devices()[place];
  Device& to = device(sample, place);
  const bool is_once_due = !to.once_ns || from.is_lost || sample.time_ns - *to.once_ns >= kOnceRhythmNs;
  if (is_once_due) to.once_ns = sample.time_ns;
  for (const MetricInfo& info : metric_table()) {
    if (info.unit == MetricUnit::text || info.id == Metric::index) continue;
    const MetricValue& value = from.values[info.id];
    const std::optional<Validity> validity = validity_of(value.state);
    recording::SeriesId& series = to.series[index_of(info.id)];
    // What was never known has no series; a reader shows it as not there.
    if (!validity || (series == kNoId && *validity != Validity::known)) continue;
    if (series == kNoId) series = writer_->series(to.subject, info.name, unit_name(info.unit));
    const std::int64_t number = *validity == Validity::known ? value.number : 0;
    // What cannot change is repeated now and then.
    if (info.cost == Cost::once && *validity == Validity::known && !is_once_due) continue;
    keep_first(first, writer_->append(Sample{series, *validity, sample.time_ns, number}));
  }
  return first;
}

void Recorder::describe(Host& host, const HostProcess& from) {
  const Process& process = from.process;
  const auto set = [&](std::string_view name, const std::optional<std::string>& value) {
    if (value) writer_->set_attribute(host.subject, name, *value);
  };
  if (from.presence == Presence::seen) set("name", process.name);
  set("user", process.user);
  set("command", process.command);
  set("cgroup", process.cgroup);
  set("parent_name", from.parent_name);
  if (process.ppid) set("parent", std::to_string(*process.ppid));
  if (from.is_orphan) set("orphan", *from.is_orphan ? "1" : "0");
  if (process.start_time_ns) set("start_time", std::to_string(*process.start_time_ns));
  host.ppid = process.ppid;
  host.is_orphan = from.is_orphan;
}

std::optional<Error> Recorder::add_process(const LiveSample& sample, const HostProcess& from) {
  std::optional<Error> first;
  Host& host = processes_[from.pid];
  const std::int64_t start_ticks = from.process.key.start_ticks;
  if (host.subject == kNoId || host.start_ticks != start_ticks) {
    if (host.subject != kNoId) writer_->end_subject(host.subject);
    host = Host{};
    host.start_ticks = start_ticks;
    host.subject = writer_->add_subject(
        {SubjectKind::process, fmt::format("{}:{}:{}", boot_id_, from.pid, start_ticks), host_, {}});
    describe(host, from);
  } else if (host.ppid != from.process.ppid || host.is_orphan != from.is_orphan) {
    describe(host, from);
  }
  host.round = round_;
  const Process& process = from.process;
  // R, S and I come and go all the time and mean no trouble.
  const char letter = process.state.value_or('?');
  const char state = letter == 'S' || letter == 'I' ? 'R' : letter;
  const bool is_due = !host.written_ns || sample.time_ns - *host.written_ns >= kHostRhythmNs;
  if (!is_due && state == host.written_state) return first;
  host.written_ns = sample.time_ns;
  host.written_state = state;
  const auto put_known = [&](recording::SeriesId& series, std::string_view name, std::string_view unit,
                             std::optional<std::int64_t> value) {
    if (!value && series == kNoId) return;
    if (series == kNoId) series = writer_->series(host.subject, name, unit);
    keep_first(first, put(series, sample.time_ns, value));
  };
  std::optional<std::int64_t> cpu;
  if (process.cpu_percent) cpu = std::llround(*process.cpu_percent);
  put_known(host.cpu, kSeriesCpu, "percent", cpu);
  put_known(host.rss, kSeriesRss, "bytes", process.rss_bytes);
  std::optional<std::int64_t> code;
  if (process.state) code = static_cast<unsigned char>(state);
  put_known(host.state, kSeriesState, {}, code);
  return first;
}

std::optional<Error> Recorder::add_use(const LiveSample& sample, std::size_t place, const DeviceProcess& from) {
  const auto host = processes_.find(from.pid);
  if (host == processes_.end()) return std::nullopt;  // no pid that a process can have
  std::optional<Error> first;
  const Device& on = device(sample, place);
  Use& use = uses_[use_key(sample.devices()[place].text(Metric::uuid), from.pid)];
  if (use.subject == kNoId || use.host != host->second.subject) {
    if (use.subject != kNoId) writer_->end_subject(use.subject);
    use = Use{};
    use.host = host->second.subject;
    Subject subject{SubjectKind::process,
                    fmt::format("{}:{}:{}", boot_id_, from.pid, host->second.start_ticks),
                    on.subject,
                    {{"type", std::to_string(static_cast<int>(from.type))}}};
    if (from.gpu_instance) subject.attributes.emplace_back("gpu_instance", std::to_string(*from.gpu_instance));
    if (from.compute_instance) {
      subject.attributes.emplace_back("compute_instance", std::to_string(*from.compute_instance));
    }
    use.subject = writer_->add_subject(subject);
    use.used = writer_->series(use.subject, kSeriesUsed, "bytes");
  }
  if (use.is_mps != from.is_mps) {
    writer_->set_attribute(use.subject, "mps", from.is_mps ? "1" : "0");
    use.is_mps = from.is_mps;
  }
  use.round = round_;
  keep_first(first, put(use.used, sample.time_ns, from.used_bytes));
  const auto put_known = [&](recording::SeriesId& series, std::string_view name, std::string_view unit,
                             std::optional<std::int64_t> value) {
    if (!value && series == kNoId) return;
    if (series == kNoId) series = writer_->series(use.subject, name, unit);
    keep_first(first, put(series, sample.time_ns, value));
  };
  put_known(use.sm, kSeriesSmShare, "percent", from.sm_percent);
  put_known(use.memory, kSeriesMemoryShare, "percent", from.memory_percent);
  put_known(use.encoder, kSeriesEncoderShare, "percent", from.encoder_percent);
  put_known(use.decoder, kSeriesDecoderShare, "percent", from.decoder_percent);
  put_known(use.reserved, kSeriesAllocatorReserved, "bytes", from.allocator_reserved_bytes);
  put_known(use.allocated, kSeriesAllocatorAllocated, "bytes", from.allocator_allocated_bytes);
  put_known(use.active, kSeriesAllocatorActive, "bytes", from.allocator_active_bytes);
  return first;
}

void Recorder::end_gone() {
  for (auto use = uses_.begin(); use != uses_.end();) {
    if (use->second.round == round_) {
      ++use;
      continue;
    }
    writer_->end_subject(use->second.subject);
    use = uses_.erase(use);
  }
  for (auto process = processes_.begin(); process != processes_.end();) {
    if (process->second.round == round_) {
      ++process;
      continue;
    }
    writer_->end_subject(process->second.subject);
    process = processes_.erase(process);
  }
}

std::optional<Error> Recorder::add_event(recording::EventKind kind, std::int64_t time_ns, std::int64_t pid,
                                         std::int64_t code, std::string_view text) {
  const auto process = processes_.find(pid);
  const recording::SubjectId subject = process == processes_.end() ? kNoId : process->second.subject;
  return writer_->append(recording::Event{time_ns, kind, subject, code, text});
}

std::optional<Error> Recorder::close() {
  return writer_->close();
}

}  // namespace vramscope
