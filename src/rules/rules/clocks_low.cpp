// Clocks far below what the card can do although it works and nothing is said to hold them down
// (docs/rules/clocks-low.md).
#include "rule_table.h"
#include "rules/arguments.h"
#include "rules/device_cases.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr double kLow = 0.6;        // of the highest SM clock
constexpr double kExplained = 0.3;  // of the time under full load: then another rule tells it
constexpr double kMostly = 0.5;
constexpr std::uint32_t kFewestMoments = 5;

bool is_explained(const ClockUse& use) {
  return share_of_weight(use.busy_held, use.busy_told) >= kExplained ||
         share_of_weight(use.at_power_limit, use.power_told) >= kExplained;
}

DeviceCase case_of(Facts& facts, std::size_t place) {
  const ClockUse& use = facts.clock_use()[place];
  const bool is_set = share_of_weight(use.busy_set, use.busy_told) >= kMostly;
  const bool is_sure = use.busy_told > 0 || use.power_told > 0;
  const double share = static_cast<double>(*use.median_sm_mhz) / static_cast<double>(*use.max_sm_mhz);
  DeviceCase one;
  one.device = place;
  one.severity = is_sure && !is_set ? Severity::warning : Severity::info;
  one.confidence = confidence_from(use.clock_moments / 4) * (use.busy_told > 0 ? 0.9 : is_sure ? 0.7 : 0.4);
  one.badness = 1 - share;
  one.title = N_("GPU {gpu}: clocks stay low under full load");
  one.summary = is_set
                    ? N_("Under full load the SM clock is {clock} MHz in the median, {share} of what the card can do "
                         "({highest} MHz). Somebody has set the clocks.")
                    : N_("Under full load the SM clock is {clock} MHz in the median, {share} of what the card can do "
                         "({highest} MHz), and neither heat nor power is said to be the cause.");
  one.fix = is_nvidias(facts.device_log(), place)
                ? N_("Look whether clocks were locked and free them: `sudo nvidia-smi -i {gpu} -rgc` and `sudo "
                     "nvidia-smi -i {gpu} -rac`. If they stay low, reset the GPU or restart the machine; a notebook "
                     "needs its mains supply.")
                : N_("Look at power_dpm_force_performance_level of the card: `auto` lets clocks rise with the load.");
  one.arguments = {{"clock", {*use.median_sm_mhz, Unit::none}},
                   {"highest", {*use.max_sm_mhz, Unit::none}},
                   {"share", share_value(share)}};
  one.seen = {use.first_busy, use.last_busy};
  one.evidence.push_back({N_("median SM clock under full load, MHz"), count_value(*use.median_sm_mhz), {}});
  one.evidence.push_back({N_("highest SM clock seen under full load, MHz"), count_value(*use.highest_sm_mhz), {}});
  one.evidence.push_back({N_("highest SM clock, MHz"), count_value(*use.max_sm_mhz), {}});
  one.evidence.push_back(looked_for(facts.log_weights(), use.clock_told));
  return one;
}

void check(Facts& facts, Verdicts& verdicts) {
  const DeviceLog& log = facts.device_log();
  std::vector<DeviceCase> cases;
  bool is_told = false;
  for (std::size_t place = 0; place < log.devices.size(); ++place) {
    const ClockUse& use = facts.clock_use()[place];
    if (!use.median_sm_mhz || !use.max_sm_mhz || use.clock_moments < kFewestMoments) continue;
    is_told = true;
    const bool is_low = static_cast<double>(*use.median_sm_mhz) < kLow * static_cast<double>(*use.max_sm_mhz);
    if (is_low && !is_explained(use)) cases.push_back(case_of(facts, place));
  }
  if (!is_told) {
    return skip(verdicts,
                N_("No GPU is under full load in {needed} samples or more that tell its SM clock and the highest one "
                   "(clocks.sm, clocks.max.sm)."),
                {{"needed", {std::int64_t{kFewestMoments}, Unit::none}}});
  }
  report_cases(log, std::move(cases), verdicts);
}

}  // namespace

Rule rule_clocks_low() {
  return {"clocks-low", N_("clocks that stay low under full load"), check, Input::device_samples};
}

}  // namespace vramscope
