// A scenario played as devices: the same at every run, at any speed.
#include <algorithm>
#include <cstdio>
#include <fstream>

#include "backend_table.h"
#include "devices/backends/sim/scenario.h"
#include "fmt/format.h"
#include "system/file_kind.h"
#include "text/catalogue.h"

namespace vramscope {

namespace sim {
namespace {

constexpr std::size_t kMostFileBytes = 1 << 20;
constexpr std::int64_t kMostPercent = 100;

std::uint64_t seed_of(std::uint64_t subject, std::uint64_t part) {
  return subject * 4096 + part;
}

// Drivers count pages, not bytes.
std::int64_t whole_pages(std::int64_t bytes) {
  constexpr std::int64_t kPage = 2 << 20;
  return bytes / kPage * kPage;
}

std::optional<std::int64_t> share_at(const std::optional<Curve>& curve, std::int64_t time, std::uint64_t seed) {
  if (!curve) return std::nullopt;
  return std::min(curve->at(time, seed), kMostPercent);
}

class Source : public DeviceSource {
 public:
  explicit Source(Scenario scenario) : scenario_(std::move(scenario)) {
    for (const SimGpu& gpu : scenario_.gpus) add(gpu);
  }
  const std::vector<DeviceSample>& sample(const Wanted& wanted, std::int64_t time_ns) override;

 private:
  void add(const SimGpu& gpu);
  void set_identity(MetricValues& values, const SimGpu& gpu, const SimMig* mig, std::size_t mig_number);
  void play(const SimGpu& gpu, std::size_t place, const Wanted& wanted, std::int64_t time);
  void play_processes(const SimGpu& gpu, DeviceSample& sample, const Wanted& wanted, std::int64_t time);
  void play_mig(const SimMig& mig, const DeviceSample& gpu, DeviceSample& sample);

  Scenario scenario_;
  std::vector<DeviceSample> samples_;
};

void Source::set_identity(MetricValues& values, const SimGpu& gpu, const SimMig* mig, std::size_t mig_number) {
  char text[64];
  std::snprintf(text, sizeof text, "%s-00000000-0000-4000-8000-0000%02zx0000%02x", mig != nullptr ? "MIG" : "GPU",
                mig_number, static_cast<unsigned>(gpu.index));
  values.set_text(Metric::uuid, text);
  values.set_text(Metric::name, mig != nullptr && !mig->name.empty() ? mig->name : "Simulated GPU");
  values.set_text(Metric::driver_version, "simulated");
  values.set(Metric::count, static_cast<std::int64_t>(scenario_.gpus.size()));
  if (mig != nullptr) return;
  std::snprintf(text, sizeof text, "00000000:%02X:00.0", static_cast<unsigned>(gpu.index + 1));
  values.set_text(Metric::pci_bus_id, text);
  for (const auto& [metric, words] : gpu.texts) values.set_text(metric, words);
}

void Source::add(const SimGpu& gpu) {
  const int place = static_cast<int>(samples_.size());
  DeviceSample sample;
  sample.index = gpu.index;
  set_identity(sample.values, gpu, nullptr, 0);
  samples_.push_back(std::move(sample));
  int number = 0;
  for (const SimMig& mig : gpu.migs) {
    DeviceSample part;
    part.index = number++;
    part.parent = place;
    part.gpu_instance = mig.gpu_instance;
    part.compute_instance = mig.compute_instance;
    set_identity(part.values, gpu, &mig, static_cast<std::size_t>(number));
    samples_.push_back(std::move(part));
  }
}

void Source::play_processes(const SimGpu& gpu, DeviceSample& sample, const Wanted& wanted, std::int64_t time) {
  std::size_t count = 0;  // entries are used again, so that their strings keep their room
  for (const SimProcess& from : gpu.processes) {
    if (time < from.from_ns || (from.until_ns && time >= *from.until_ns)) continue;
    if (count == sample.processes.size()) sample.processes.emplace_back();
    DeviceProcess& process = sample.processes[count++];
    const auto subject = static_cast<std::uint64_t>(from.pid);
    process.pid = from.pid;
    process.type = from.type;
    process.is_mps = from.is_mps;
    const auto bytes_at = [&](const std::optional<Curve>& curve, std::uint64_t part) {
      std::optional<std::int64_t> bytes;
      if (curve) bytes = whole_pages(curve->at(time - from.from_ns, seed_of(subject, part)));
      return bytes;
    };
    process.used_bytes = bytes_at(from.used, 0);
    process.allocator_reserved_bytes = bytes_at(from.allocator_reserved, 5);
    process.allocator_allocated_bytes = bytes_at(from.allocator_allocated, 6);
    process.allocator_active_bytes = bytes_at(from.allocator_active, 7);
    const bool with_shares = wanted.process_utilisation;
    process.sm_percent = with_shares ? share_at(from.sm, time, seed_of(subject, 1)) : std::nullopt;
    process.memory_percent = with_shares ? share_at(from.memory, time, seed_of(subject, 2)) : std::nullopt;
    process.encoder_percent = with_shares ? share_at(from.encoder, time, seed_of(subject, 3)) : std::nullopt;
    process.decoder_percent = with_shares ? share_at(from.decoder, time, seed_of(subject, 4)) : std::nullopt;
    process.gpu_instance = from.gpu_instance;
    process.compute_instance = from.compute_instance;
    process.host = from.host;
  }
  sample.processes.resize(count);
  sample.processes_state = ValueState::known;
}

std::int64_t total_used(const std::vector<DeviceProcess>& processes) {
  std::int64_t sum = 0;
  for (const DeviceProcess& process : processes) sum += process.used_bytes.value_or(0);
  return sum;
}

// used is what processes hold and `memory.other`, unless the scenario gives it; free is the rest.
void balance_memory(const SimGpu& gpu, DeviceSample& sample, std::int64_t time) {
  MetricValues& values = sample.values;
  const auto total = values.number(Metric::memory_total);
  if (!total) return;
  const std::int64_t reserved = values.number(Metric::memory_reserved).value_or(0);
  const std::int64_t room = std::max<std::int64_t>(*total - reserved, 0);
  std::int64_t used = values.number(Metric::memory_used).value_or(-1);
  if (used < 0) {
    used = total_used(sample.processes);
    if (gpu.other_used) used += gpu.other_used->at(time, seed_of(static_cast<std::uint64_t>(gpu.index), 4000));
  }
  used = std::min(used, room);
  values.set(Metric::memory_used, used);
  values.set(Metric::memory_free, room - used);
}

void clear(MetricValues& values, ValueState state) {
  for (const MetricInfo& info : metric_table()) {
    if (info.unit != MetricUnit::text && info.id != Metric::count) values.set_missing(info.id, state);
  }
}

void hide_unwanted(MetricValues& values, const Wanted& wanted) {
  for (const MetricInfo& info : metric_table()) {
    const bool is_wanted = wanted.metrics.test(index_of(info.id)) || info.id == Metric::index;
    if (!is_wanted && info.cost != Cost::once) values.set_missing(info.id, ValueState::not_asked);
    if (is_wanted && values[info.id].state == ValueState::not_asked) {
      values.set_missing(info.id, ValueState::not_supported);
    }
  }
}

void Source::play_mig(const SimMig& mig, const DeviceSample& gpu, DeviceSample& sample) {
  clear(sample.values, gpu.is_lost ? ValueState::lost : ValueState::not_supported);
  sample.is_lost = gpu.is_lost;
  sample.values.set(Metric::index, sample.index);
  if (gpu.is_lost) return;
  std::int64_t used = 0;
  for (const DeviceProcess& process : gpu.processes) {
    if (process.gpu_instance == mig.gpu_instance && process.compute_instance.value_or(0) == mig.compute_instance) {
      used += process.used_bytes.value_or(0);
    }
  }
  used = std::min(used, mig.total_bytes);
  sample.values.set(Metric::memory_total, mig.total_bytes);
  sample.values.set(Metric::memory_used, used);
  sample.values.set(Metric::memory_free, mig.total_bytes - used);
}

void Source::play(const SimGpu& gpu, std::size_t place, const Wanted& wanted, std::int64_t time) {
  DeviceSample& sample = samples_[place];
  sample.is_lost = gpu.lost_ns && time >= *gpu.lost_ns;
  clear(sample.values, sample.is_lost ? ValueState::lost : ValueState::not_supported);
  if (sample.is_lost) {
    sample.processes.clear();
    sample.processes_state = ValueState::lost;
    // The kernel log tells the last Xid, not the GPU.
    for (const auto& [metric, curve] : gpu.curves) {
      if (metric == Metric::xid_last) sample.values.set(metric, curve.at(time, 0));
    }
  } else {
    for (const auto& [metric, curve] : gpu.curves) {
      std::int64_t value = curve.at(time, seed_of(static_cast<std::uint64_t>(gpu.index), index_of(metric)));
      if (info_of(metric).unit == MetricUnit::percent) value = std::min(value, kMostPercent);
      sample.values.set(metric, value);
    }
    play_processes(gpu, sample, wanted, time);  // memory follows from them, whether they are wanted or not
    balance_memory(gpu, sample, time);
  }
  sample.values.set(Metric::index, gpu.index);
  for (std::size_t i = 0; i < gpu.migs.size(); ++i) {
    play_mig(gpu.migs[i], sample, samples_[place + 1 + i]);
    hide_unwanted(samples_[place + 1 + i].values, wanted);
  }
  hide_unwanted(sample.values, wanted);
  if (!wanted.processes) {
    sample.processes.clear();
    sample.processes_state = ValueState::not_asked;
  }
}

const std::vector<DeviceSample>& Source::sample(const Wanted& wanted, std::int64_t time_ns) {
  std::size_t place = 0;
  for (const SimGpu& gpu : scenario_.gpus) {
    play(gpu, place, wanted, std::max<std::int64_t>(time_ns, 0));
    place += 1 + gpu.migs.size();
  }
  return samples_;
}

Result<std::string> read_file(const std::string& path) {
  if (may_wait_for_ever(path)) {
    return Error{ExitCode::bad_input,
                 fmt::format(fmt::runtime(tr("The scenario {path} is a pipe or a device; give a text file of at most 1 "
                                             "MiB.")),
                             fmt::arg("path", path))};
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostFileBytes + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  const auto size = static_cast<std::size_t>(file.gcount());
  if (file.bad() || !file.is_open() || size > kMostFileBytes) {
    return Error{ExitCode::bad_input,
                 fmt::format(fmt::runtime(tr("The scenario {path} cannot be read; give a text file of at most 1 MiB.")),
                             fmt::arg("path", path))};
  }
  text.resize(size);
  return text;
}

Result<std::unique_ptr<DeviceSource>> open(std::string_view argument) {
  const std::string name(argument.empty() ? "healthy" : argument);
  std::string text;
  if (const char* found = built_in(name)) {
    text = found;
  } else if (name.find_first_of("/.") == name.npos) {
    std::string known;
    for (const std::string_view other : built_in_names()) (known += known.empty() ? "" : ", ") += other;
    return Error{ExitCode::usage,
                 fmt::format(fmt::runtime(tr("There is no scenario named {name}; give one of {known}, or a file's path "
                                             "with a slash or dot in it.")),
                             fmt::arg("name", name), fmt::arg("known", known))};
  } else {
    auto read = read_file(name);
    if (!read) return read.error();
    text = std::move(*read);
  }
  auto scenario = parse_scenario(text, name);
  if (!scenario) return scenario.error();
  return std::unique_ptr<DeviceSource>(std::make_unique<Source>(std::move(*scenario)));
}

}  // namespace
}  // namespace sim

Backend backend_sim() {
  return {"sim", N_("a scenario played as devices, for trying vramscope with no GPU"), -1, sim::open};
}

}  // namespace vramscope
