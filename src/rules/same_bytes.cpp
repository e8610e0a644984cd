#include "rules/same_bytes.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "analysis/memory_sums.h"
#include "rules/arguments.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

// How near to the cause a rule is, the nearest first: a kept graph says why memory grows, growth alone only where.
int distance_of(const Finding& finding) {
  constexpr std::string_view kNearestFirst[] = {"graph-kept", "eval-without-no-grad", "memory-growth"};
  int distance = 0;
  for (const std::string_view rule : kNearestFirst) {
    if (finding.rule == rule) break;
    ++distance;
  }
  return distance;
}

std::int64_t bytes_of(const Trace& trace, const std::vector<std::uint32_t>& events) {
  std::int64_t sum = 0;
  for (const std::uint32_t event : events) sum = add_bytes(sum, trace.memory.bytes[event]);
  return sum;
}

std::int64_t shared_bytes(const Trace& trace, const Finding& a, const Finding& b) {
  std::vector<std::uint32_t> both;
  std::set_intersection(a.kept_events.begin(), a.kept_events.end(), b.kept_events.begin(), b.kept_events.end(),
                        std::back_inserter(both));
  return bytes_of(trace, both);
}

Message same_bytes_as(const Finding& other, std::int64_t shared, std::int64_t own) {
  const bool all = shared >= own - own / 100;
  return {all ? N_("These are the same bytes as in the finding {rule}.")
              : N_("{shared} of the {own} that stay are the same bytes as in the finding {rule}."),
          {{"rule", text_value(other.rule)}, {"shared", bytes_value(shared)}, {"own", bytes_value(own)}}};
}

}  // namespace

void relate_findings(const Trace& trace, std::vector<Finding>& findings, std::size_t first) {
  for (std::size_t i = first; i < findings.size(); ++i) {
    Finding& finding = findings[i];
    const std::int64_t own = bytes_of(trace, finding.kept_events);
    int nearest = distance_of(finding);
    for (std::size_t k = first; k < findings.size(); ++k) {
      if (distance_of(findings[k]) >= nearest) continue;
      const std::int64_t shared = shared_bytes(trace, finding, findings[k]);
      if (shared == 0 || shared < own / 2) continue;  // less is no explanation
      nearest = distance_of(findings[k]);
      finding.same_bytes = same_bytes_as(findings[k], shared, own);
    }
  }
}

}  // namespace vramscope
