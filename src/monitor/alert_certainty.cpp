#include "monitor/alert_certainty.h"

#include "text/catalogue.h"

namespace vramscope {

namespace {

// Of what can be read nothing is below 0 but temperatures and the margins to them.
std::optional<double> least(const AlertRule& rule) {
  if (rule.unit == AlertUnit::celsius) return std::nullopt;
  return 0.0;
}

// A fan may turn faster than its nominal speed, and the other is a factor.
std::optional<double> most(const AlertRule& rule) {
  if (rule.unit != AlertUnit::percent) return std::nullopt;
  if (rule.metric == Metric::fan_speed || rule.metric == Metric::edpp_multiplier) return std::nullopt;
  return 100.0;
}

}  // namespace

AlertCertainty certainty_of(const AlertRule& rule) {
  const double at = rule.threshold;
  const auto low = least(rule);
  const auto high = most(rule);
  bool is_open = false;
  switch (rule.comparison) {
    case AlertComparison::above:
    case AlertComparison::at_most:
      is_open = (!low || at >= *low) && (!high || at < *high);
      break;
    case AlertComparison::below:
    case AlertComparison::at_least:
      is_open = (!low || at > *low) && (!high || at <= *high);
      break;
    case AlertComparison::equal:
    case AlertComparison::not_equal:
      is_open = (!low || at >= *low) && (!high || at <= *high);
      break;
  }
  if (is_open) return AlertCertainty::open;
  constexpr double kSome = 1;  // the same for every value, so any tells
  return compare(kSome, rule.comparison, at) ? AlertCertainty::always : AlertCertainty::never;
}

std::string certainty_problem(const AlertRule& rule) {
  const AlertCertainty certainty = certainty_of(rule);
  if (certainty == AlertCertainty::open) return {};
  const bool always = certainty == AlertCertainty::always;
  if (rule.unit == AlertUnit::percent) {
    return always ? tr("this would always hold, for a share lies between 0 % and 100 %")
                  : tr("this could never hold, for a share lies between 0 % and 100 %");
  }
  return always ? tr("this would always hold, for the value is never below 0")
                : tr("this could never hold, for the value is never below 0");
}

}  // namespace vramscope
