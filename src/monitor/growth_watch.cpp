#include "monitor/growth_watch.h"

#include <algorithm>

namespace vramscope {

namespace {

constexpr std::int64_t kMebibyte = 1 << 20;
constexpr std::size_t kGroupsSoFar = 4;
constexpr std::size_t kGroupsGrowing = 8;
constexpr std::size_t kLevelsSoFar = 3;  // groups of 5, 10 and 20 samples
constexpr double kNanosecondsAnHour = 3600e9;

}  // namespace

void GrowthWatch::add(std::int64_t time_ns, std::int64_t bytes) {
  if (has_samples_ && time_ns < last_ns_) return;
  has_samples_ = true;
  last_ns_ = time_ns;
  last_bytes_ = bytes;
  if (!open_) open_ = Group{time_ns, bytes};
  open_->lowest = std::min(open_->lowest, bytes);
  // Fallen below what were its lowest values: the groups would show it too, later.
  if (growth_.state != GrowthState::none && bytes < growth_.from_bytes + growth_.grown_bytes / 2) growth_ = {};
  if (++open_samples_ < kGroupSamples) return;
  const Group group = *open_;
  open_.reset();
  open_samples_ = 0;
  complete(0, group);
  judge();
}

void GrowthWatch::complete(std::size_t number, const Group& group) {
  if (number >= kLevels) return;
  if (number == levels_.size()) levels_.emplace_back();
  {
    Level& level = levels_[number];
    if (level.groups.size() == kKept) level.groups.erase(level.groups.begin());
    level.groups.push_back(group);
    if (level.completed++ % kKept == 0) level.largest_fall /= 2;
    level.highest = level.groups.size() == 1 ? group.lowest : std::max(level.highest, group.lowest);
    level.largest_fall = std::max(level.largest_fall, level.highest - group.lowest);
    if (!level.half) {
      level.half = group;
      return;
    }
  }
  const Group first = *levels_[number].half;
  levels_[number].half.reset();
  complete(number + 1, {first.begin_ns, std::min(first.lowest, group.lowest)});
}

// Medians, so that a warm-up within one group does not make what follows look slow.
bool GrowthWatch::is_slowing(const Level& level, std::size_t count) {
  const std::vector<Group>& groups = level.groups;
  if (groups.size() < count) return false;
  std::vector<std::int64_t> steps;
  for (std::size_t i = groups.size() - count + 1; i < groups.size(); ++i) {
    steps.push_back(groups[i].lowest - groups[i - 1].lowest);
  }
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  const auto median = [](std::vector<std::int64_t> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  };
  const std::int64_t before = median({steps.begin(), middle});
  return before > 0 && median({middle, steps.end()}) * 2 < before;
}

// Do the last `fewest` groups rise, all but one of them, steadily, and by far more than the level ever fell?
std::optional<Growth> GrowthWatch::rising(const Level& level, std::size_t fewest, GrowthState state) {
  const std::vector<Group>& groups = level.groups;
  if (groups.size() < fewest) return std::nullopt;
  const std::size_t begin = groups.size() - fewest;
  const std::int64_t rise = groups.back().lowest - groups[begin].lowest;
  if (rise < static_cast<std::int64_t>(fewest) * kMebibyte || level.largest_fall > rise / 4) return std::nullopt;
  const std::int64_t small_step = rise / static_cast<std::int64_t>(8 * fewest);
  std::size_t small_steps = 0;
  std::int64_t largest_step = 0;
  for (std::size_t i = begin + 1; i < groups.size(); ++i) {
    const std::int64_t step = groups[i].lowest - groups[i - 1].lowest;
    largest_step = std::max(largest_step, step);
    if (step < small_step) ++small_steps;
    if (step < small_step && i + 1 == groups.size()) return std::nullopt;  // it may have stopped
  }
  if (small_steps > (fewest > kGroupsSoFar ? 1U : 0U)) return std::nullopt;
  if (largest_step > rise * 6 / 10 || is_slowing(level, fewest)) return std::nullopt;
  Growth growth;
  growth.state = state;
  const std::int64_t time = groups.back().begin_ns - groups[begin].begin_ns;
  if (time <= 0) return std::nullopt;
  growth.bytes_per_hour = static_cast<double>(rise) * kNanosecondsAnHour / static_cast<double>(time);
  std::size_t since = begin;
  while (since > 0 && groups[since - 1].lowest < groups[since].lowest) --since;
  growth.since_ns = groups[since].begin_ns;
  growth.from_bytes = groups[since].lowest;
  growth.grown_bytes = groups.back().lowest - growth.from_bytes;
  return growth;
}

// Two groups in a row that rise by less than a fifth of what they should.
bool GrowthWatch::has_levelled_off() const {
  const std::vector<Group>& groups = levels_[found_level_].groups;
  if (groups.size() < 3) return false;
  const Group& before = groups[groups.size() - 3];
  const double expected =
      growth_.bytes_per_hour * static_cast<double>(groups.back().begin_ns - before.begin_ns) / kNanosecondsAnHour;
  return static_cast<double>(groups.back().lowest - before.lowest) < expected / 5;
}

void GrowthWatch::judge() {
  Growth found;
  std::size_t found_at = 0;
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    const std::vector<Group>& groups = levels_[i].groups;
    if (groups.size() < kGroupsSoFar) break;
    const std::int64_t width =
        (groups.back().begin_ns - groups.front().begin_ns) / static_cast<std::int64_t>(groups.size() - 1);
    std::optional<Growth> here;
    if (width >= kFewestGroupNs) {
      // Over a longer time it slows down: a cache that fills. Then narrower groups, which cannot see that, do not
      // count.
      if (is_slowing(levels_[i], kGroupsGrowing)) found = {};
      here = rising(levels_[i], kGroupsGrowing, GrowthState::growing);
    }
    if (!here && i < kLevelsSoFar) here = rising(levels_[i], kGroupsSoFar, GrowthState::so_far);
    if (!here || found.state > here->state) continue;
    found = *here;
    found_at = i;
  }
  const bool is_less = found.state == GrowthState::none || found.state < growth_.state;
  if (growth_.state != GrowthState::none && is_less && !has_levelled_off()) return;  // as it was
  growth_ = found;
  found_level_ = found_at;
}

}  // namespace vramscope
