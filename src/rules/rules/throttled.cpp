// Clocks held down by heat, power supplies or hardware, and for which share of the time (docs/rules/throttled.md).
#include <algorithm>

#include "analysis/clock_reason_bits.h"
#include "rule_table.h"
#include "rules/arguments.h"
#include "rules/clock_reasons.h"
#include "rules/device_cases.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr double kLeastShare = 0.05;
constexpr double kShareForError = 0.2;
constexpr std::uint32_t kFewestMoments = 2;

// The place of a reason's one bit.
std::size_t place_of(std::int64_t bits) {
  std::size_t place = 0;
  while (place + 1 < ClockUse::kBits && (bits >> place) != 1) ++place;
  return place;
}

void add_evidence(const ClockUse& use, DeviceCase& one) {
  const auto add = [&](const char* what, const std::optional<std::int64_t>& number, std::int64_t divisor) {
    if (number) one.evidence.push_back({what, count_value(whole_units(*number, divisor)), {}});
  };
  add(N_("highest temperature, °C"), use.most_temperature, 1);
  add(N_("highest power, W"), use.most_power_mw, 1000);
  add(N_("power limit, W"), use.power_limit_mw, 1000);
  add(N_("median SM clock under full load, MHz"), use.median_sm_mhz, 1);
  add(N_("highest SM clock, MHz"), use.max_sm_mhz, 1);
}

DeviceCase case_of(Facts& facts, std::size_t place, const ClockReason& reason) {
  const DeviceLog& log = facts.device_log();
  const ClockUse& use = facts.clock_use()[place];
  const std::size_t bit = place_of(reason.bits);
  const double share = share_of_weight(use.active[bit], use.told);
  const bool is_moment = use.told_moments == 1;
  DeviceCase one;
  one.device = place;
  one.severity = share < kShareForError || is_moment ? std::min(reason.severity, Severity::warning) : reason.severity;
  one.confidence = is_moment ? 0.5 : confidence_from(use.active_moments[bit]);
  one.badness = share;
  one.title = reason.title;
  one.summary = reason.summary;
  one.fix = is_nvidias(log, place) ? reason.fix : reason.fix_elsewhere;
  if (!is_moment) {
    one.details.push_back({N_("That is so for {share} of the time."), {{"share", share_value(share)}}});
  }
  one.seen = {use.first_active[bit], use.last_active[bit]};
  one.evidence.push_back({N_("share of the time"), share_value(share), {}});
  one.evidence.push_back(looked_for(facts.log_weights(), use.told));
  add_evidence(use, one);
  return one;
}

bool is_telling(const ClockUse& use, const ClockReason& reason) {
  const std::size_t bit = place_of(reason.bits);
  if (use.told_moments == 1) return use.active_moments[bit] == 1;
  return use.active_moments[bit] >= kFewestMoments && share_of_weight(use.active[bit], use.told) >= kLeastShare;
}

void check(Facts& facts, Verdicts& verdicts) {
  const DeviceLog& log = facts.device_log();
  std::vector<DeviceCase> cases;
  bool is_told = false;
  for (std::size_t place = 0; place < log.devices.size(); ++place) {
    const ClockUse& use = facts.clock_use()[place];
    is_told = is_told || use.told_moments > 0;
    for (const ClockReason& reason : clock_reasons()) {
      if ((reason.bits & clock_reason::kThrottled) == 0 || !is_telling(use, reason)) continue;
      cases.push_back(case_of(facts, place, reason));
      break;
    }
  }
  if (!is_told) {
    return skip(verdicts,
                N_("The log does not tell why clocks are held down; add clocks_event_reasons.active to the query."));
  }
  report_cases(log, std::move(cases), verdicts);
}

}  // namespace

Rule rule_throttled() {
  return {"throttled", N_("clocks held down by heat, power supplies or hardware"), check, Input::device_samples};
}

}  // namespace vramscope
