// GPUs of AMD, Intel and others through what the kernel's DRM drivers show in sysfs and /proc. NVIDIA's cards are here
// only with the driver nouveau; with NVIDIA's own, the backend nvml has them.
#include <algorithm>
#include <cmath>

#include "backend_table.h"
#include "base/saturate.h"
#include "devices/backends/drm/card_reader.h"
#include "devices/backends/drm/clients.h"
#include "devices/backends/drm/kfd.h"
#include "fmt/format.h"
#include "system/process_table.h"
#include "text/catalogue.h"

namespace vramscope {

namespace drm {
namespace {

constexpr std::uint64_t kSamplesBetweenLooks = 60;  // for cards that were added
constexpr std::size_t kMostKeptOpen = 8;            // cards; with more, files are opened anew each time

class Source : public DeviceSource {
 public:
  explicit Source(ReaderSettings settings);

  const std::vector<DeviceSample>& sample(const Wanted& wanted, std::int64_t time_ns) override;
  Result<std::string> process_name(std::int64_t pid) override;
  bool is_empty() const { return readers_.empty(); }

 private:
  void find_new_cards();
  bool read(std::size_t place, const Wanted& wanted, std::int64_t now_ns);
  void finish(std::size_t place, const MetricMask& wanted, bool is_there);
  void fill_processes(const Wanted& wanted);
  void set_busy(std::size_t place);

  ReaderSettings settings_;
  std::vector<CardReader> readers_;
  std::vector<Card> cards_;
  std::vector<DeviceSample> samples_;
  Clients clients_;
  std::unique_ptr<Kfd> kfd_;
  std::uint64_t taken_ = 0;
};

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

bool is_once(Metric metric) {
  return info_of(metric).cost == Cost::once;
}

Source::Source(ReaderSettings settings)
    : settings_(std::move(settings)), clients_(settings_.roots, process_descriptor_limit() / 2) {
  find_new_cards();
}

// Cards that are known keep their places and indexes, whatever comes or goes.
void Source::find_new_cards() {
  const std::vector<Card> found = find_cards(settings_.roots);
  settings_.keeps_open = readers_.size() + found.size() <= kMostKeptOpen;
  bool has_new = false;
  for (const Card& card : found) {
    const bool is_known = std::any_of(cards_.begin(), cards_.end(), [&](const Card& known) {
      return known.folder == card.folder && known.driver == card.driver;
    });
    if (is_known) continue;
    has_new = true;
    cards_.push_back(card);
    readers_.emplace_back(card, settings_);
    DeviceSample sample;
    sample.index = static_cast<int>(samples_.size());
    readers_.back().identify(settings_, sample.values);
    sample.values.set(Metric::index, sample.index);
    samples_.push_back(std::move(sample));
  }
  for (CardReader& reader : readers_) reader.look_anew();
  for (DeviceSample& sample : samples_) {
    sample.values.set(Metric::count, static_cast<std::int64_t>(samples_.size()));
  }
  if (has_new) kfd_ = std::make_unique<Kfd>(settings_.roots, cards_);
}

bool Source::read(std::size_t place, const Wanted& wanted, std::int64_t now_ns) {
  DeviceSample& sample = samples_[place];
  MetricMask mask = wanted.metrics;
  for (const MetricInfo& info : metric_table()) {
    if (!is_once(info.id)) {
      sample.values.set_missing(info.id, ValueState::not_asked);
    } else if (sample.values.is_known(info.id)) {
      mask.reset(index_of(info.id));  // it stays as it is
    }
  }
  // Costs little here, and is left out of live_wanted() for what it costs elsewhere.
  if (wanted.processes) mask |= mask_of({Metric::fan_speed, Metric::temperature_slowdown});
  Fill fill{sample.values, mask};
  return readers_[place].read(fill, now_ns);
}

// What was wanted and nobody told.
void Source::finish(std::size_t place, const MetricMask& wanted, bool is_there) {
  DeviceSample& sample = samples_[place];
  sample.is_lost = !is_there;
  for (std::size_t at = wanted._Find_first(); at < kMetricCount; at = wanted._Find_next(at)) {
    const auto metric = static_cast<Metric>(at);
    const ValueState state = sample.values[metric].state;
    if (!is_there && !(is_once(metric) && state == ValueState::known)) {
      sample.values.set_missing(metric, ValueState::lost);
    } else if (state == ValueState::not_asked) {
      sample.values.set_missing(metric, ValueState::not_supported);
    }
  }
  if (is_there) return;
  sample.processes.clear();
  sample.processes_state = ValueState::lost;
}

std::optional<std::int64_t> percent_of(std::optional<double> share) {
  return share ? std::optional<std::int64_t>(std::llround(*share)) : std::nullopt;
}

std::optional<double> larger(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::max(*a, *b) : a ? a : b;
}

ProcessType type_of(const Shares& shares) {
  if (!shares.ever(Work::compute)) return ProcessType::graphics;
  return shares.ever(Work::graphics) ? ProcessType::compute_and_graphics : ProcessType::compute;
}

DeviceProcess process_of(const CardUser& user, bool is_unified, bool with_shares) {
  DeviceProcess process;
  process.pid = user.pid;
  process.type = type_of(user.shares);
  process.used_bytes = user.local_bytes;
  process.system_bytes = user.system_bytes;
  process.shared_bytes = user.shared_bytes;
  process.evicted_bytes = user.evicted_bytes;
  if (is_unified && user.system_bytes) {
    process.used_bytes = saturating_add(user.local_bytes.value_or(0), *user.system_bytes);
  }
  if (with_shares) {
    process.sm_percent = percent_of(larger(user.shares[Work::graphics], user.shares[Work::compute]));
    process.encoder_percent = percent_of(user.shares[Work::encode]);
    process.decoder_percent = percent_of(user.shares[Work::decode]);
    process.jpeg_percent = percent_of(user.shares[Work::jpeg]);
  }
  return process;
}

void Source::fill_processes(const Wanted& wanted) {
  clients_.sample(cards_, monotonic_ns());
  for (DeviceSample& sample : samples_) {
    sample.processes.clear();
    sample.processes_state = ValueState::known;
    sample.unreadable_processes = clients_.unreadable();
  }
  for (const CardUser& user : clients_.users()) {
    const CardReader& reader = readers_[user.card];
    // A card of Intel's that a virtual machine has sits where integrated ones do; memory of its own gives it away.
    const bool is_unified = reader.is_unified() && (reader.card().driver == "amdgpu" || !user.local_bytes);
    samples_[user.card].processes.push_back(process_of(user, is_unified, wanted.process_utilisation));
  }
  if (kfd_ == nullptr) return;
  for (const KfdUse& use : kfd_->sample()) {
    std::vector<DeviceProcess>& processes = samples_[use.card].processes;
    auto place = std::lower_bound(processes.begin(), processes.end(), use.pid,
                                  [](const DeviceProcess& process, std::int64_t pid) { return process.pid < pid; });
    if (place == processes.end() || place->pid != use.pid) {
      place = processes.insert(place, DeviceProcess());
      place->pid = use.pid;
    }
    // What its queues do is counted nowhere; engines of fdinfo are those of graphics.
    place->type = place->type == ProcessType::graphics && place->sm_percent.value_or(0) > 0
                      ? ProcessType::compute_and_graphics
                      : ProcessType::compute;
    place->sm_percent.reset();
    // Both count the same buffers, and older kernels only some of them in fdinfo.
    place->used_bytes = std::max(place->used_bytes.value_or(0), use.bytes);
  }
}

// Of drivers that do not tell how busy the card is: the engine that all clients together used most.
void Source::set_busy(std::size_t place) {
  // With clients that cannot be seen, their work would be missing.
  if (clients_.unreadable() > 0 || readers_[place].is_asleep()) return;
  const Shares& work = clients_.work_on(place);
  std::optional<double> most;
  for (const std::optional<double>& share : work.percent) most = larger(most, share);
  if (most) samples_[place].values.set(Metric::utilization_gpu, std::llround(*most));
}

const std::vector<DeviceSample>& Source::sample(const Wanted& wanted, std::int64_t) {
  if (taken_ != 0 && taken_ % kSamplesBetweenLooks == 0) find_new_cards();
  ++taken_;
  std::vector<bool> is_there(readers_.size());
  for (std::size_t i = 0; i < readers_.size(); ++i) is_there[i] = read(i, wanted, monotonic_ns());
  const bool needs_work =
      wanted.metrics.test(index_of(Metric::utilization_gpu)) &&
      std::any_of(readers_.begin(), readers_.end(), [](const CardReader& reader) { return !reader.tells_busy(); });
  if (wanted.processes || needs_work) {
    fill_processes(wanted);
    for (std::size_t i = 0; i < readers_.size(); ++i) {
      if (needs_work && !readers_[i].tells_busy()) set_busy(i);
    }
  }
  if (!wanted.processes) {
    for (DeviceSample& sample : samples_) {
      sample.processes.clear();
      sample.processes_state = ValueState::not_asked;
    }
  }
  for (std::size_t i = 0; i < readers_.size(); ++i) finish(i, wanted.metrics, is_there[i]);
  return samples_;
}

// The drivers know no names: the program that /proc shows.
Result<std::string> Source::process_name(std::int64_t pid) {
  const std::string folder = settings_.roots.proc + "/" + std::to_string(pid);
  if (auto path = read_link_at(AT_FDCWD, (folder + "/exe").c_str())) return std::move(*path);
  const auto arguments = read_file(folder + "/cmdline", 4096);
  if (!arguments || arguments->empty() || arguments->front() == '\0') return Error{ExitCode::machine, {}};
  return arguments->substr(0, arguments->find('\0'));
}

// "/host": a machine whose root is mounted there, as in a container that watches its host.
ReaderSettings settings_for(std::string_view root) {
  ReaderSettings settings;
  settings.roots = roots_from_environment();
  settings.share_folders = {"/usr/share", "/usr/local/share"};
  if (!root.empty()) {
    const std::string folder(root);
    settings.roots = {folder + "/proc", folder + "/sys"};
    settings.share_folders = {folder + "/usr/share"};
  }
  return settings;
}

}  // namespace
}  // namespace drm

namespace {

Result<std::unique_ptr<DeviceSource>> open(std::string_view argument) {
  drm::ReaderSettings settings = drm::settings_for(argument);
  const std::string folder = settings.roots.sys + "/class/drm";
  auto source = std::make_unique<drm::Source>(std::move(settings));
  if (source->is_empty()) {
    return Error{ExitCode::machine,
                 fmt::format(fmt::runtime(tr("{folder} shows no GPU that a driver of the kernel drives; load the "
                                             "driver (amdgpu, i915, xe, nouveau), or give the container /dev/dri.")),
                             fmt::arg("folder", folder))};
  }
  return std::unique_ptr<DeviceSource>(std::move(source));
}

}  // namespace

Backend backend_drm() {
  return {"drm", N_("GPUs of AMD, Intel and others, through the kernel's DRM drivers"), 50, open};
}

}  // namespace vramscope
