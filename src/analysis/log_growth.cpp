#include "analysis/log_growth.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "analysis/device_limits.h"
#include "analysis/log_reading.h"
#include "analysis/memory_sums.h"
#include "base/saturate.h"

namespace vramscope {

namespace {

constexpr std::int64_t kRhythmNs = 120'000'000'000;  // the highest of its rhythm decides what room is left
constexpr double kNanosecondsAnHour = 3600e9;

// One level over time.
struct Watched {
  GrowthWatch watch;
  std::optional<LogGrowth> seen;  // the latest that was certain
  std::uint32_t last = 0;         // moment
  std::int64_t samples = 0;
};

// Since the first moment. What no log lasts and no device holds is cut: the watch counts on room for sums.
std::int64_t watch_time_ns(const DeviceLog& log, std::uint32_t moment) {
  constexpr std::int64_t kLongestNs = std::int64_t{1} << 60;
  return std::min(saturating_sub(log.time_ns[moment], log.time_ns[0]), kLongestNs);
}

void add(Watched& watched, const DeviceLog& log, std::uint32_t moment, std::int64_t bytes, bool is_full) {
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 53;
  watched.watch.add(watch_time_ns(log, moment), std::clamp<std::int64_t>(bytes, 0, kMostBytes));
  watched.last = moment;
  ++watched.samples;
  const Growth& growth = watched.watch.growth();
  if (growth.state != GrowthState::growing) return;
  if (!watched.seen) watched.seen.emplace();
  watched.seen->growth = growth;
  watched.seen->last = moment;
  watched.seen->has_filled = is_full;
}

// What is to be told of one level: it grew to its end, or until the memory was full.
std::optional<LogGrowth> result_of(const Watched& watched) {
  const bool grows = watched.watch.growth().state == GrowthState::growing;
  if (!watched.seen || (!grows && !watched.seen->has_filled)) return std::nullopt;
  LogGrowth found = *watched.seen;
  if (grows) found.last = watched.last;
  return found;
}

std::uint32_t moment_at(const DeviceLog& log, std::int64_t time_ns) {
  const auto at = std::lower_bound(log.time_ns.begin(), log.time_ns.end(), time_ns);
  return static_cast<std::uint32_t>(std::min<std::ptrdiff_t>(at - log.time_ns.begin(), log.moments - 1));
}

std::optional<std::int64_t> until_full(const DeviceLog& log, const LogGrowth& found) {
  const LogDevice& device = log.devices[found.device];
  const auto usable = usable_bytes(device);
  const LogSeries* used = series_of(device, Metric::memory_used);
  if (!usable || used == nullptr || found.growth.bytes_per_hour <= 0) return std::nullopt;
  MetricReading reading(device, Metric::memory_used);
  std::optional<std::int64_t> highest;
  const std::int64_t since_ns = saturating_sub(log.time_ns.back(), kRhythmNs);
  for (std::uint32_t moment = moment_at(log, since_ns); moment < log.moments; ++moment) {
    if (const auto bytes = reading.at(moment)) highest = std::max(highest.value_or(*bytes), *bytes);
  }
  if (!highest) return std::nullopt;
  const auto room = static_cast<double>(std::max<std::int64_t>(subtract_bytes(*usable, *highest), 0));
  const double time_ns = room / found.growth.bytes_per_hour * kNanosecondsAnHour;
  return time_ns > 9e18 ? std::nullopt : std::optional(static_cast<std::int64_t>(time_ns));
}

// Everything that is watched in one walk over the moments.
class Walk {
 public:
  explicit Walk(const DeviceLog& log) : log_(log) {
    for (const LogDevice& device : log.devices) {
      used_.emplace_back(device, Metric::memory_used);
      usable_.push_back(usable_bytes(device));
    }
    devices_.resize(log.devices.size());
    process_samples_.resize(log.devices.size());
  }

  void take(std::uint32_t moment) {
    is_full_.assign(log_.devices.size(), false);
    for (std::size_t at = 0; at < log_.devices.size(); ++at) {
      const auto bytes = used_[at].at(moment);
      if (!bytes) continue;
      is_full_[at] = usable_[at] && static_cast<double>(*bytes) > kFullShare * static_cast<double>(*usable_[at]);
      add(devices_[at], log_, moment, *bytes, is_full_[at]);
    }
    take_processes(moment);
  }

  LogGrowths finish() {
    LogGrowths all;
    for (std::size_t at = 0; at < log_.devices.size(); ++at) {
      all.tells_memory = all.tells_memory || devices_[at].samples > 0 || process_samples_[at] > 0;
      std::optional<LogGrowth> found = largest_process(at);
      if (!found && process_samples_[at] * 2 < devices_[at].samples) found = result_of(devices_[at]);
      if (found) all.found.push_back(finished(*found, at));
    }
    all.span_ns = saturating_sub(log_.time_ns.back(), log_.time_ns[0]);
    return all;
  }

 private:
  // A process is listed twice where it computes and draws.
  void take_processes(std::uint32_t moment) {
    sums_.clear();
    for (std::uint32_t at = log_.first_use[moment]; at < log_.first_use[moment + 1]; ++at) {
      const LogUse& use = log_.uses[at];
      if (use.used_bytes == kNoLogValue) continue;
      std::int64_t& sum = sums_[{use.device, use.process}];
      sum = std::max(sum, use.used_bytes);
    }
    std::uint32_t last_device = UINT32_MAX;
    for (const auto& [key, bytes] : sums_) {
      if (key.first != last_device) ++process_samples_[key.first];
      last_device = key.first;
      add(processes_[key], log_, moment, bytes, is_full_[key.first]);
    }
  }

  std::optional<LogGrowth> largest_process(std::size_t device) const {
    std::optional<LogGrowth> largest;
    const auto begin = processes_.lower_bound({static_cast<std::uint32_t>(device), 0});
    for (auto at = begin; at != processes_.end() && at->first.first == device; ++at) {
      std::optional<LogGrowth> found = result_of(at->second);
      if (!found) continue;
      found->process = at->first.second;
      if (!largest || found->growth.bytes_per_hour > largest->growth.bytes_per_hour) largest = found;
    }
    return largest;
  }

  LogGrowth finished(LogGrowth found, std::size_t device) const {
    found.device = device;
    found.first = moment_at(log_, saturating_add(log_.time_ns[0], found.growth.since_ns));
    const std::int64_t silent_ns = saturating_sub(log_.time_ns.back(), log_.time_ns[found.last]);
    found.is_last = silent_ns <= kRhythmNs && watched_of(found).watch.growth().state == GrowthState::growing;
    if (found.is_last) found.until_full_ns = until_full(log_, found);
    return found;
  }
  const Watched& watched_of(const LogGrowth& found) const {
    if (!found.process) return devices_[found.device];
    return processes_.at({static_cast<std::uint32_t>(found.device), *found.process});
  }

  const DeviceLog& log_;
  std::vector<MetricReading> used_;
  std::vector<std::optional<std::int64_t>> usable_;
  std::deque<Watched> devices_;
  std::vector<std::int64_t> process_samples_;  // of each device: moments that tell the memory of a process
  std::map<std::pair<std::uint32_t, std::uint32_t>, Watched> processes_;  // by device and process
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> sums_;  // of the moment
  std::vector<bool> is_full_;
};

}  // namespace

LogGrowths log_growth(const DeviceLog& log) {
  if (log.moments == 0 || log.time_ns.size() != log.moments || log.time_ns.back() == log.time_ns[0]) return {};
  Walk walk(log);
  for (std::uint32_t moment = 0; moment < log.moments; ++moment) walk.take(moment);
  return walk.finish();
}

}  // namespace vramscope
