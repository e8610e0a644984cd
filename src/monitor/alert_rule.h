#pragma once
// Alert rules as people write them, on the command line and in the configuration file (docs/alerts.md):
//   memory.used > 90% for 30s on gpu 0,1
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/alert.h"
#include "model/metric.h"

namespace vramscope {

enum class AlertComparison : std::uint8_t { above, at_least, below, at_most, equal, not_equal };

struct AlertRule {
  std::string text;  // as written, blanks made single
  AlertCondition condition = AlertCondition::metric;
  Severity severity = Severity::warning;
  std::optional<Metric> metric;  // of AlertCondition::metric
  AlertComparison comparison = AlertComparison::above;
  AlertUnit unit = AlertUnit::none;  // of the threshold; percent for a share of memory.total too
  double threshold = 0;
  bool is_share = false;       // of memory.total
  std::int64_t for_ns = 0;     // how long it must hold before it fires
  std::int64_t within_ns = 0;  // of full_within
  std::vector<int> gpus;       // indices; with `uuids` empty too: all
  std::vector<std::string> uuids;
  std::string process_name;  // of process_gone; empty: any
  std::optional<std::int64_t> process_pid;
};

// The Error is one sentence that points to the wrong word and tells what is possible there.
Result<AlertRule> parse_alert_rule(std::string_view text);
// ">", ">=", …
const char* comparison_sign(AlertComparison comparison);
bool compare(double value, AlertComparison comparison, double threshold);
AlertUnit alert_unit(MetricUnit unit);
// What the rules look at besides what every live sample has (devices/backend.h, live_wanted()).
MetricMask metrics_of(const std::vector<AlertRule>& rules);
// "warning", "error", "info"; empty for another word.
std::optional<Severity> severity_named(std::string_view word);

}  // namespace vramscope
