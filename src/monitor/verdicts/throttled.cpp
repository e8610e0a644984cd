// Clocks held down, and why.
#include "rules/clock_reasons.h"
#include "text/catalogue.h"
#include "verdict_table.h"

namespace vramscope {

namespace {

void judge_device(const VerdictInput& input, const DeviceSample& device, std::vector<Verdict>& verdicts) {
  const auto active = device.number(Metric::clocks_event_reasons_active);
  if (device.is_lost || !active) return;
  for (const ClockReason& reason : clock_reasons()) {
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
