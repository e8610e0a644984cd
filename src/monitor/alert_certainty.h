#pragma once
// Thresholds that no value can cross.
#include <string>

#include "monitor/alert_rule.h"

namespace vramscope {

enum class AlertCertainty : std::uint8_t { open, always, never };

// Of a rule that compares a value: whether its condition holds for every value that can be, or for none.
AlertCertainty certainty_of(const AlertRule& rule);
// What is wrong with a rule that can never or always hold, as the end of a sentence; empty when it is open.
std::string certainty_problem(const AlertRule& rule);

}  // namespace vramscope
