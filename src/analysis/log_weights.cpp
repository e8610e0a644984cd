#include "analysis/log_weights.h"

#include <algorithm>

#include "base/saturate.h"

namespace vramscope {

namespace {

constexpr std::int64_t kGap = 3;  // times the usual distance

std::vector<std::int64_t> distances_of(const Column<std::int64_t>& time_ns) {
  std::vector<std::int64_t> distances;
  for (std::size_t i = 1; i < time_ns.size(); ++i) {
    const std::int64_t distance = saturating_sub(time_ns[i], time_ns[i - 1]);
    if (distance > 0) distances.push_back(distance);
  }
  return distances;
}

}  // namespace

LogWeights log_weights(const DeviceLog& log) {
  LogWeights weights;
  weights.weight.assign(log.moments, 1);
  weights.is_gap.assign(log.moments, false);
  weights.seen = log.moments;
  std::vector<std::int64_t> distances = distances_of(log.time_ns);
  if (distances.empty() || log.time_ns.size() != log.moments) return weights;
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  weights.has_time = true;
  weights.usual_ns = *middle;
  weights.seen = 0;
  for (std::size_t first = 0; first < log.moments;) {
    std::size_t next = first + 1;
    while (next < log.moments && log.time_ns[next] == log.time_ns[first]) ++next;
    const auto count = static_cast<std::int64_t>(next - first);
    std::int64_t lasts_ns = weights.usual_ns;
    if (next < log.moments) {
      const std::int64_t distance = saturating_sub(log.time_ns[next], log.time_ns[first]);
      if (distance / kGap <= weights.usual_ns) {
        lasts_ns = distance;
      } else {
        weights.is_gap[next - 1] = true;
      }
    }
    // Several moments with one time, as of a clock that shows whole seconds, share what follows.
    for (; first < next; ++first) weights.weight[first] = lasts_ns / count;
    weights.seen = saturating_add(weights.seen, lasts_ns);
  }
  return weights;
}

}  // namespace vramscope
