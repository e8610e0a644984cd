#pragma once
// Sensors of a card: temperatures, power, fans, clocks. Files and units (millidegrees, microwatts, microjoules, hertz,
// turns a minute): Documentation/hwmon/sysfs-interface.rst of the kernel; which drivers have which:
// Documentation/gpu/amdgpu/thermal.rst, Documentation/ABI/testing/sysfs-driver-intel-{i915,xe}-hwmon,
// drivers/gpu/drm/nouveau/nouveau_hwmon.c (whose pwm1 is percent, not 0 to 255).
#include <array>
#include <cstdint>
#include <string>

#include "devices/backends/drm/fill.h"

namespace vramscope::drm {

class Hwmon {
 public:
  Hwmon() = default;
  // `device`: the card's folder. Without sensors there every value is unknown.
  Hwmon(const std::string& device, std::string driver, bool keeps_open);

  // Values that change. `now_ns` of a clock that does not jump: drivers that count energy alone give power from the
  // second call on.
  void read(Fill& fill, std::int64_t now_ns);
  // Limits.
  void read_limits(Fill& fill);
  bool has_label(std::string_view label) const;  // of a voltage: amdgpu has "vddnb" on APUs alone
  void look_anew() { folder_.look_anew(); }

 private:
  static constexpr std::size_t kChannels = 4;
  struct Channel {
    std::string input, critical, emergency, highest;
  };
  std::size_t channel_of(std::initializer_list<std::string_view> labels) const;
  void read_power(Fill& fill, std::int64_t now_ns);
  void read_fan(Fill& fill);

  SysfsFolder folder_;
  std::string driver_;
  std::array<Channel, kChannels> channels_;
  std::array<std::string, kChannels> labels_;
  std::string voltage_labels_;
  std::size_t gpu_ = kChannels, memory_ = kChannels, junction_ = kChannels;  // kChannels: none
  std::optional<std::int64_t> energy_uj_;
  std::int64_t energy_ns_ = 0;
};

}  // namespace vramscope::drm
