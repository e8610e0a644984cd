// Clocks held down, and why. Bits: nvmlClocksEventReason… in NVIDIA's nvml.h.
#include "text/catalogue.h"
#include "verdict_table.h"

namespace vramscope {

namespace {

struct Reason {
  std::int64_t bits;
  Severity severity;
  const char* title;
  const char* summary;
  const char* fix;
  const char* fix_elsewhere;  // where NVIDIA's tools do not reach
};

constexpr std::int64_t kSwPowerCap = 0x4;
constexpr std::int64_t kHwSlowdown = 0x8;
constexpr std::int64_t kSwThermal = 0x20;
constexpr std::int64_t kHwThermal = 0x40;
constexpr std::int64_t kPowerBrake = 0x80;

// The first that fits is told.
constexpr Reason kReasons[] = {
    {kPowerBrake, Severity::error, N_("GPU {gpu} is slowed down by the power supply"),
     N_("The power brake is active: a supply or the rack asks for less power."),
     N_("Look at power supplies and cables, and at the power limits of the machine."),
     N_("Look at power supplies and cables, and at the power limits of the machine.")},
    {kHwThermal, Severity::error, N_("GPU {gpu} is too hot and slowed down by its hardware"),
     N_("The hardware lowers the clocks to save itself."),
     N_("Look at fans, dust and air flow now; lower the power limit until then: `sudo nvidia-smi -i {gpu} -pl "
        "WATTS`."),
     N_("Look at fans, dust and air flow now; lower the power limit until then (power1_cap or power1_max of the card's "
        "hwmon).")},
    {kSwThermal, Severity::warning, N_("GPU {gpu} is hot and slowed down"),
     N_("The driver lowers the clocks to keep the temperature at its target."),
     N_("Better cooling, or a lower power limit, gives steadier clocks: `sudo nvidia-smi -i {gpu} -pl WATTS`."),
     N_("Better cooling, or a lower power limit (power1_cap or power1_max of the card's hwmon), gives steadier "
        "clocks.")},
    {kHwSlowdown, Severity::warning, N_("GPU {gpu} is slowed down by its hardware"),
     N_("The hardware lowers the clocks, for heat, for power, or at the wish of the machine."),
     N_("`vramscope smi --query-gpu=clocks_event_reasons.active,temperature.gpu,power.draw --format=csv -l 1` shows "
        "with "
        "what it goes."),
     N_("`vramscope watch` shows with what it goes.")},
    {kSwPowerCap, Severity::info, N_("GPU {gpu} is at its power limit"),
     N_("Clocks are lowered to stay below the power limit. Under full load that is normal."),
     N_("If the limit is below what the card can take, it can be raised: `sudo nvidia-smi -i {gpu} -pl WATTS`."),
     N_("If the limit is below what the card can take, it can be raised (power1_cap or power1_max of the card's "
        "hwmon).")},
};

void judge_device(const VerdictInput& input, const DeviceSample& device, std::vector<Verdict>& verdicts) {
  const auto active = device.number(Metric::clocks_event_reasons_active);
  if (device.is_lost || !active) return;
  for (const Reason& reason : kReasons) {
    if ((*active & reason.bits) == 0) continue;
    Verdict verdict = about_device(input.sample, device, "throttled", reason.severity);
    Finding& finding = verdict.finding;
    finding.title = reason.title;
    finding.summary = reason.summary;
    finding.fix = is_nvidias(device) ? reason.fix : reason.fix_elsewhere;
    const auto add = [&](const char* what, Metric metric, std::int64_t divisor) {
      if (const auto number = device.number(metric))
        finding.evidence.push_back({what, count_value((*number + divisor / 2) / divisor), {}});
    };
    add(N_("temperature, °C"), Metric::temperature_gpu, 1);
    add(N_("slowdown temperature, °C"), Metric::temperature_slowdown, 1);
    add(N_("power, W"), Metric::power_draw, 1000);
    add(N_("power limit, W"), Metric::enforced_power_limit, 1000);
    add(N_("SM clock, MHz"), Metric::clocks_current_sm, 1);
    add(N_("highest SM clock, MHz"), Metric::clocks_max_sm, 1);
    verdicts.push_back(std::move(verdict));
    return;
  }
}

void judge_all(const VerdictInput& input, std::vector<Verdict>& verdicts) {
  for (const DeviceSample& device : input.sample.devices()) judge_device(input, device, verdicts);
}

}  // namespace

VerdictRule verdict_throttled() {
  return {"throttled", N_("clocks held down by heat or power"), judge_all};
}

}  // namespace vramscope
