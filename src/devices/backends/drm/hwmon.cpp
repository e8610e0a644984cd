#include "devices/backends/drm/hwmon.h"

#include <dirent.h>

#include <algorithm>
#include <vector>

namespace vramscope::drm {

namespace {

constexpr std::int64_t kMostWattsInMilli = 100'000'000;
constexpr std::int64_t kMostMegahertz = 100'000;

// …/hwmon/hwmon3; the number differs from boot to boot.
std::string folder_of(const std::string& device) {
  DIR* const opened = ::opendir((device + "/hwmon").c_str());
  if (opened == nullptr) return {};
  std::string found;
  while (const dirent* const entry = ::readdir(opened)) {
    const std::string name = entry->d_name;
    // A card with two has its own first (xe and its memory controller).
    if (name.starts_with("hwmon") && (found.empty() || name < found)) found = name;
  }
  ::closedir(opened);
  return found.empty() ? found : device + "/hwmon/" + found;
}

void read_if(Fill& fill, Metric metric, SysfsFolder& folder, const std::string& file) {
  constexpr Scale kMilliToOne{1, 1000};
  fill.read(metric, folder, file.c_str(), kMilliToOne, kLeastCelsius, kMostCelsius);
}

}  // namespace

Hwmon::Hwmon(const std::string& device, std::string driver, bool keeps_open)
    : folder_(folder_of(device), keeps_open), driver_(std::move(driver)) {
  SysfsFolder names(folder_.path(), false);
  for (std::size_t i = 0; i < kChannels; ++i) {
    const std::string number = std::to_string(i + 1);
    const std::string label_file = "temp" + number + "_label";
    channels_[i] = {"temp" + number + "_input", "temp" + number + "_crit", "temp" + number + "_emergency",
                    "temp" + number + "_max"};
    labels_[i] = names.text(label_file.c_str()).value_or("");
    const std::string voltage_file = "in" + std::to_string(i) + "_label";
    voltage_labels_ += std::string(names.text(voltage_file.c_str()).value_or("")) + "|";
  }
  junction_ = channel_of({"junction"});
  memory_ = channel_of({"mem", "vram"});
  gpu_ = channel_of({"edge", "pkg"});
  if (gpu_ == kChannels) gpu_ = junction_;
  // Without labels (nouveau, i915): the first there is.
  for (std::size_t i = 0; i < kChannels && gpu_ == kChannels; ++i) {
    if (i != memory_ && names.text(channels_[i].input.c_str())) gpu_ = i;
  }
}

std::size_t Hwmon::channel_of(std::initializer_list<std::string_view> labels) const {
  for (const std::string_view label : labels) {
    const auto found = std::find(labels_.begin(), labels_.end(), label);
    if (found != labels_.end()) return static_cast<std::size_t>(found - labels_.begin());
  }
  return kChannels;
}

bool Hwmon::has_label(std::string_view label) const {
  return ("|" + voltage_labels_).find("|" + std::string(label) + "|") != std::string::npos;
}

void Hwmon::read(Fill& fill, std::int64_t now_ns) {
  if (gpu_ < kChannels) read_if(fill, Metric::temperature_gpu, folder_, channels_[gpu_].input);
  if (memory_ < kChannels) read_if(fill, Metric::temperature_memory, folder_, channels_[memory_].input);
  if (junction_ < kChannels) read_if(fill, Metric::temperature_junction, folder_, channels_[junction_].input);
  read_power(fill, now_ns);
  read_fan(fill);
  if (driver_ != "amdgpu") return;
  fill.read(Metric::clocks_current_sm, folder_, "freq1_input", kHertzToMega, 0, kMostMegahertz);
  fill.read(Metric::clocks_current_memory, folder_, "freq2_input", kHertzToMega, 0, kMostMegahertz);
}

void Hwmon::read_power(Fill& fill, std::int64_t now_ns) {
  const auto watts = [&](const char* file) {
    const auto microwatts = folder_.number(file);
    return microwatts ? std::optional(Fill::scaled(*microwatts, kMicroToMilli)) : std::nullopt;
  };
  if (!fill.wants(Metric::power_draw) && !fill.wants(Metric::energy_total) && !fill.wants(Metric::power_draw_average) &&
      !fill.wants(Metric::power_draw_instant)) {
    return;
  }
  const auto average = watts("power1_average");
  const auto instant = watts("power1_input");
  fill.set(Metric::power_draw_average, average, 0, kMostWattsInMilli);
  fill.set(Metric::power_draw_instant, instant, 0, kMostWattsInMilli);
  fill.set(Metric::power_draw, average ? average : instant, 0, kMostWattsInMilli);
  const auto energy_uj = folder_.number("energy1_input");
  if (!energy_uj || *energy_uj < 0) return;
  fill.set(Metric::energy_total, *energy_uj / 1000);
  if (energy_uj_ && *energy_uj >= *energy_uj_ && now_ns > energy_ns_ && !average && !instant) {
    const double microjoules = static_cast<double>(*energy_uj - *energy_uj_);
    const double milliwatts = microjoules * 1e6 / static_cast<double>(now_ns - energy_ns_);
    if (milliwatts <= static_cast<double>(kMostWattsInMilli)) {
      fill.set(Metric::power_draw, static_cast<std::int64_t>(milliwatts + 0.5));
    }
  }
  if (energy_uj_ && now_ns <= energy_ns_) return;
  energy_uj_ = energy_uj;
  energy_ns_ = now_ns;
}

void Hwmon::read_fan(Fill& fill) {
  constexpr std::int64_t kMostTurns = 100'000;
  fill.read(Metric::fan_rpm, folder_, "fan1_input", kAsItIs, 0, kMostTurns);
  if (!fill.wants(Metric::fan_speed)) return;
  const auto pwm = folder_.number("pwm1");
  const std::int64_t full = driver_ == "nouveau" ? 100 : folder_.number("pwm1_max").value_or(255);
  if (pwm && full > 0 && *pwm >= 0 && *pwm <= full) fill.set(Metric::fan_speed, (*pwm * 100 + full / 2) / full);
}

void Hwmon::read_limits(Fill& fill) {
  const auto limit = [&](Metric metric, const char* file) {
    if (!fill.wants(metric)) return;
    const auto microwatts = folder_.number(file);
    // i915 and xe: 0 stands for no limit.
    if (microwatts && *microwatts > 0) {
      fill.set(metric, Fill::scaled(*microwatts, kMicroToMilli), 0, kMostWattsInMilli);
    }
  };
  // amdgpu calls what is in force cap; Intel's drivers and nouveau max.
  const char* const in_force = driver_ == "amdgpu" ? "power1_cap" : "power1_max";
  limit(Metric::enforced_power_limit, in_force);
  limit(Metric::power_limit, in_force);
  if (driver_ == "amdgpu") {
    limit(Metric::power_default_limit, "power1_cap_default");
    limit(Metric::power_min_limit, "power1_cap_min");
    limit(Metric::power_max_limit, "power1_cap_max");
  } else {
    limit(Metric::power_default_limit, "power1_rated_max");
  }
  if (gpu_ < kChannels) {
    const Channel& gpu = channels_[gpu_];
    read_if(fill, Metric::temperature_slowdown, folder_, gpu.critical);
    read_if(fill, Metric::temperature_shutdown, folder_, gpu.emergency);
    read_if(fill, Metric::temperature_gpu_max, folder_, gpu.highest);
  }
  if (memory_ < kChannels) read_if(fill, Metric::temperature_memory_max, folder_, channels_[memory_].critical);
}

}  // namespace vramscope::drm
