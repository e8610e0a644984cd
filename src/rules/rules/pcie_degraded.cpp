// A PCIe link with fewer lanes or a lower generation than device and slot can do, seen while the device works
// (docs/rules/pcie-degraded.md).
#include <algorithm>
#include <cmath>

#include "base/saturate.h"
#include "rule_table.h"
#include "rules/arguments.h"
#include "rules/device_cases.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr double kSlow = 0.26;  // of the rate: a quarter or less costs whoever copies
constexpr double kSlower = 0.51;
constexpr std::uint32_t kFewestForWarning = 3;

// What of the link's rate is there: each generation doubles it.
double rate_share(const LinkUse& use) {
  double share = 1;
  if (use.width && use.most_width && *use.most_width > 0) {
    share *= static_cast<double>(*use.width) / static_cast<double>(*use.most_width);
  }
  if (use.generation && use.most_generation) {
    share *= std::exp2(
        static_cast<double>(std::clamp<std::int64_t>(saturating_sub(*use.generation, *use.most_generation), -16, 0)));
  }
  return share;
}

bool is_told(const LinkUse& use) {
  return (use.width && use.most_width) || (use.generation && use.most_generation);
}

DeviceCase case_of(std::size_t place, const LinkUse& use, double share) {
  const bool is_seen_often = use.busy_moments >= kFewestForWarning;
  const auto number = [](const std::optional<std::int64_t>& value) {
    return value ? Value{*value, Unit::none} : text_value("?");
  };
  DeviceCase one;
  one.device = place;
  one.severity = share <= kSlow && is_seen_often ? Severity::warning : Severity::info;
  one.confidence = is_seen_often ? 0.9 * confidence_from(use.busy_moments) : 0.4;
  one.badness = 1 - share;
  one.title = N_("GPU {gpu}: the PCIe link is slower than it could be");
  one.summary =
      N_("While the GPU works the link is of generation {generation} with {width} lanes; device and slot can do "
         "generation {most_generation} with {most_width}. Copies between host and device have {share} of the rate.");
  one.fix =
      N_("Look at the slot: seat the card anew, use a slot with all its lanes and no riser, and look at lanes shared "
         "with other slots and at the link speed in the firmware's setup. In a virtual machine the host decides what "
         "is shown.");
  one.arguments = {{"generation", number(use.generation)},
                   {"width", number(use.width)},
                   {"most_generation", number(use.most_generation)},
                   {"most_width", number(use.most_width)},
                   {"share", share_value(share)}};
  one.seen = {use.first_busy, use.last_busy};
  const auto add = [&](const char* what, const std::optional<std::int64_t>& value) {
    if (value) one.evidence.push_back({what, count_value(*value), {}});
  };
  add(N_("highest generation while it works"), use.generation);
  add(N_("highest generation possible"), use.most_generation);
  add(N_("most lanes while it works"), use.width);
  add(N_("most lanes possible"), use.most_width);
  add(N_("samples looked at"), use.busy_moments);
  return one;
}

void check(Facts& facts, Verdicts& verdicts) {
  const DeviceLog& log = facts.device_log();
  std::vector<DeviceCase> cases;
  bool any_told = false;
  for (std::size_t place = 0; place < log.devices.size(); ++place) {
    const LinkUse& use = facts.link_use()[place];
    if (!is_told(use)) continue;
    any_told = true;
    const double share = rate_share(use);
    if (share <= kSlower) cases.push_back(case_of(place, use, share));
  }
  if (!any_told) {
    return skip(verdicts,
                N_("The log does not tell the PCIe link of a GPU while it works; a link that is idle slows down to "
                   "save power."));
  }
  report_cases(log, std::move(cases), verdicts);
}

}  // namespace

Rule rule_pcie_degraded() {
  return {"pcie-degraded", N_("PCIe links that are slower than they could be"), check, Input::device_samples};
}

}  // namespace vramscope
