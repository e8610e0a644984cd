// Full load at the power limit, and whether the limit was lowered (docs/rules/power-capped.md).
#include <algorithm>

#include "rule_table.h"
#include "rules/arguments.h"
#include "rules/device_cases.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr double kLowered = 0.95;       // of the default limit
constexpr double kOftenAtLimit = 0.25;  // of the time under full load, where the limit was lowered
constexpr double kMostlyAtLimit = 0.5;  // where it was not
constexpr double kSlowed = 0.85;        // of the highest SM clock
constexpr std::uint32_t kFewestMoments = 3;

// The share of the time under full load at the limit: by the driver's own word, else by the power drawn.
std::optional<double> share_at_limit(const ClockUse& use) {
  if (use.busy_told > 0) return share_of_weight(use.busy_capped, use.busy_told);
  if (use.power_told > 0) return share_of_weight(use.at_power_limit, use.power_told);
  return std::nullopt;
}

bool is_lowered(const ClockUse& use) {
  return use.has_power_limits &&
         static_cast<double>(*use.power_limit_mw) < kLowered * static_cast<double>(*use.power_default_mw);
}

std::optional<double> clock_share(const ClockUse& use) {
  if (!use.median_sm_mhz || !use.max_sm_mhz) return std::nullopt;
  return static_cast<double>(*use.median_sm_mhz) / static_cast<double>(*use.max_sm_mhz);
}

void add_evidence(Facts& facts, const ClockUse& use, double share, DeviceCase& one) {
  const auto add = [&](const char* what, const std::optional<std::int64_t>& number, std::int64_t divisor) {
    if (number) one.evidence.push_back({what, count_value(whole_units(*number, divisor)), {}});
  };
  one.evidence.push_back({N_("share of the time under full load at the limit"), share_value(share), {}});
  one.evidence.push_back(looked_for(facts.log_weights(), use.busy));
  add(N_("power limit, W"), use.power_limit_mw, 1000);
  add(N_("power limit by default, W"), use.power_default_mw, 1000);
  add(N_("median SM clock under full load, MHz"), use.median_sm_mhz, 1);
  add(N_("highest SM clock, MHz"), use.max_sm_mhz, 1);
}

DeviceCase case_of(Facts& facts, std::size_t place, double share) {
  const ClockUse& use = facts.clock_use()[place];
  const bool lowered = is_lowered(use);
  const auto clock = clock_share(use);
  DeviceCase one;
  one.device = place;
  one.severity = lowered && clock && *clock < kSlowed ? Severity::warning : Severity::info;
  one.confidence = confidence_from(use.busy_moments) * (use.busy_told > 0 ? 1.0 : 0.7);
  one.badness = share;
  one.title = lowered ? N_("GPU {gpu} is at a power limit that was lowered") : N_("GPU {gpu} is at its power limit");
  if (lowered) {
    one.summary =
        N_("For {share} of the time under full load clocks are lowered to stay below {limit} W. The card's own limit "
           "is {default} W.");
    one.fix =
        N_("Where the machine can supply and cool it, set the limit back: `sudo nvidia-smi -i {gpu} -pl {default}`. A "
           "limit that was lowered on purpose costs speed and saves power.");
    one.arguments = {{"limit", {whole_units(*use.power_limit_mw, 1000), Unit::none}},
                     {"default", {whole_units(*use.power_default_mw, 1000), Unit::none}}};
  } else {
    one.summary =
        N_("For {share} of the time under full load clocks are lowered to stay below the power limit. That "
           "is normal for full load.");
    one.fix = is_nvidias(facts.device_log(), place)
                  ? N_("If the limit is below what the card can take, it can be raised: `sudo nvidia-smi -i {gpu} -pl "
                       "WATTS`.")
                  : N_("If the limit is below what the card can take, it can be raised (power1_cap or power1_max of "
                       "the card's hwmon).");
  }
  one.arguments.emplace_back("share", share_value(share));
  one.seen = {use.first_busy, use.last_busy};
  add_evidence(facts, use, share, one);
  return one;
}

void check(Facts& facts, Verdicts& verdicts) {
  const DeviceLog& log = facts.device_log();
  std::vector<DeviceCase> cases;
  bool is_told = false;
  for (std::size_t place = 0; place < log.devices.size(); ++place) {
    const ClockUse& use = facts.clock_use()[place];
    const auto share = share_at_limit(use);
    if (!share || use.busy_moments < kFewestMoments) continue;
    is_told = true;
    if (*share >= (is_lowered(use) ? kOftenAtLimit : kMostlyAtLimit)) cases.push_back(case_of(facts, place, *share));
  }
  if (!is_told) {
    return skip(verdicts,
                N_("No GPU is under full load in {needed} samples or more that tell its power and limit, or why "
                   "clocks are held down."),
                {{"needed", {std::int64_t{kFewestMoments}, Unit::none}}});
  }
  report_cases(log, std::move(cases), verdicts);
}

}  // namespace

Rule rule_power_capped() {
  return {"power-capped", N_("full load at the power limit"), check, Input::device_samples};
}

}  // namespace vramscope
