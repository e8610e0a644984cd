#include "devices/backends/drm/intel.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace vramscope::drm {

namespace {

constexpr int kMostTiles = 8;
constexpr int kMostUnits = 16;
constexpr std::int64_t kMostMegahertz = 100'000;

// Bits of Metric::clocks_event_reasons_active: nvmlClocksEventReason… of NVIDIA's nvml.h.
constexpr std::int64_t kSoftwarePowerCap = 0x4, kSoftwareThermal = 0x20, kHardwareThermal = 0x40;

// The power limits of the card (pl1 lasting, pl2 for a moment, pl4 and iccmax current), heat (prochot is the signal of
// the board, ratl the average of heat over time), the voltage regulator (vr). Power and current limits are met at full
// load by every healthy card.
struct Reason {
  std::string_view name;
  std::int64_t bits;
};
constexpr std::array kReasons = {Reason{"pl1", kSoftwarePowerCap},        Reason{"pl2", kSoftwarePowerCap},
                                 Reason{"pl4", kSoftwarePowerCap},        Reason{"iccmax", kSoftwarePowerCap},
                                 Reason{"thermal", kSoftwareThermal},     Reason{"soc_thermal", kSoftwareThermal},
                                 Reason{"mem_thermal", kSoftwareThermal}, Reason{"ratl", kSoftwareThermal},
                                 Reason{"prochot", kHardwareThermal},     Reason{"vr_thermalert", kHardwareThermal},
                                 Reason{"vr_thermal", kHardwareThermal},  Reason{"vr_tdc", kSoftwarePowerCap}};

}  // namespace

struct IntelUnits::Names {
  const char* actual;
  const char* highest;
  const char* idle;
  const char* throttled;
  std::string_view reason;  // before the name of each
};

IntelUnits::IntelUnits(const Card& card, bool keeps_open) {
  static constexpr Names kI915{"rps_act_freq_mhz", "rps_RP0_freq_mhz", "rc6_residency_ms", "throttle_reason_status",
                               "throttle_reason_"};
  static constexpr Names kOldI915{"gt_act_freq_mhz", "gt_RP0_freq_mhz", "power/rc6_residency_ms", "", ""};
  static constexpr Names kXe{"freq0/act_freq", "freq0/rp0_freq", "gtidle/idle_residency_ms", "freq0/throttle/status",
                             "freq0/throttle/reason_"};
  const auto add = [&](const std::string& path, bool is_media) {
    if (units_.size() == kMostUnits) return false;
    SysfsFolder folder(path, keeps_open);
    if (!folder.is_there()) return false;
    units_.push_back({std::move(folder), is_media, {}});
    return true;
  };
  if (card.driver == "xe") {
    names_ = &kXe;
    for (int tile = 0; tile < kMostTiles; ++tile) {
      // Units are numbered on from tile to tile.
      bool is_second = false;
      for (int unit = 0; unit < kMostUnits; ++unit) {
        const std::string path = card.folder + "/tile" + std::to_string(tile) + "/gt" + std::to_string(unit);
        if (add(path, is_second)) is_second = true;
      }
    }
    return;
  }
  for (const std::string& node : card.nodes) {
    if (!node.starts_with("card")) continue;
    const std::string folder = card.folder + "/drm/" + node;
    names_ = &kI915;
    for (int unit = 0; unit < kMostUnits; ++unit) add(folder + "/gt/gt" + std::to_string(unit), unit == 1);
    if (!units_.empty()) return;
    names_ = &kOldI915;
    add(folder, false);
    return;
  }
}

void IntelUnits::read(Fill& fill, std::int64_t now_ns) {
  if (units_.empty()) return;
  std::optional<std::int64_t> clock, media_clock;
  for (Unit& unit : units_) {
    const auto mhz = unit.folder.number(names_->actual);
    std::optional<std::int64_t>& to = unit.is_media ? media_clock : clock;
    if (mhz && *mhz >= 0 && *mhz <= kMostMegahertz) to = std::max(to.value_or(*mhz), *mhz);
  }
  fill.set(Metric::clocks_current_sm, clock);
  fill.set(Metric::clocks_current_graphics, clock);
  fill.set(Metric::clocks_current_video, media_clock);
  read_reasons(fill);
  read_awake(fill, now_ns);
}

void IntelUnits::read_limits(Fill& fill) {
  if (units_.empty()) return;
  std::optional<std::int64_t> highest, media_highest;
  for (Unit& unit : units_) {
    const auto mhz = unit.folder.number(names_->highest);
    std::optional<std::int64_t>& to = unit.is_media ? media_highest : highest;
    if (mhz && *mhz > 0 && *mhz <= kMostMegahertz) to = std::max(to.value_or(*mhz), *mhz);
  }
  fill.set(Metric::clocks_max_sm, highest);
  fill.set(Metric::clocks_max_graphics, highest);
  fill.set(Metric::clocks_max_video, media_highest);
}

void IntelUnits::read_reasons(Fill& fill) {
  if (!fill.wants(Metric::clocks_event_reasons_active) || *names_->throttled == '\0') return;
  std::optional<std::int64_t> bits;
  for (Unit& unit : units_) {
    const auto is_throttled = unit.folder.number(names_->throttled);
    if (!is_throttled || *is_throttled < 0) continue;
    bits = bits.value_or(0);
    if (*is_throttled == 0) continue;
    for (const Reason& reason : kReasons) {
      const std::string file = std::string(names_->reason) + std::string(reason.name);
      if (unit.folder.number(file.c_str()).value_or(0) != 0) *bits |= reason.bits;
    }
  }
  fill.set(Metric::clocks_event_reasons_active, bits);
}

void IntelUnits::read_awake(Fill& fill, std::int64_t now_ns) {
  std::optional<std::int64_t> awake;
  const std::int64_t elapsed_ms = (now_ns - idle_ns_) / 1'000'000;
  for (Unit& unit : units_) {
    const auto idle_ms = unit.folder.number(names_->idle);
    if (idle_ms && unit.idle_ms && *idle_ms >= *unit.idle_ms && elapsed_ms > 0) {
      const double slept = static_cast<double>(*idle_ms - *unit.idle_ms) / static_cast<double>(elapsed_ms);
      const auto percent = static_cast<std::int64_t>(100.5 - 100 * std::min(slept, 1.0));
      awake = std::max(awake.value_or(0), std::min(percent, kMostPercent));
    }
    if (elapsed_ms > 0 || !unit.idle_ms) unit.idle_ms = idle_ms && *idle_ms >= 0 ? idle_ms : std::nullopt;
  }
  if (elapsed_ms > 0) idle_ns_ = now_ns;
  fill.set(Metric::utilization_awake, awake);
}

void IntelUnits::look_anew() {
  for (Unit& unit : units_) unit.folder.look_anew();
}

}  // namespace vramscope::drm
