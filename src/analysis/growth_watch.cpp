#include "analysis/growth_watch.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace vramscope {

namespace {

constexpr std::int64_t kMebibyte = 1 << 20;
constexpr std::size_t kGroupsSoFar = 4;
// What is less, or came faster, is not worth a line before it is certain.
constexpr std::int64_t kFewestSoFar = 12 * kMebibyte;
constexpr std::int64_t kShortestSoFarNs = 10'000'000'000;
constexpr std::size_t kGroupsGrowing = 8;
constexpr std::size_t kLevelsSoFar = 3;  // groups of 5, 10 and 20 samples
constexpr double kNanosecondsAnHour = 3600e9;
// Growth that is certain may pause for half the time that it took, a phase of evaluation say, but not longer than this.
constexpr std::int64_t kLongestPauseNs = 900'000'000'000;

template <typename Groups>
std::int64_t width_of(const Groups& groups) {
  return (groups.back().begin_ns - groups.front().begin_ns) / static_cast<std::int64_t>(groups.size() - 1);
}

template <typename Value>
Value median(std::vector<Value> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Medians, so that a warm-up within one group does not make what follows look slow.
template <typename Groups>
bool is_slowing(const Groups& groups) {
  std::vector<std::int64_t> steps;
  for (std::size_t i = 1; i < groups.size(); ++i) steps.push_back(groups[i].lowest - groups[i - 1].lowest);
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  const std::int64_t before = median(std::vector<std::int64_t>(steps.begin(), middle));
  return before > 0 && median(std::vector<std::int64_t>(middle, steps.end())) * 10 < before * 7;
}

// Theil and Sen's: the median of the slopes between all pairs, the upper one of two. Bytes an hour.
template <typename Groups>
double slope(const Groups& groups) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (std::size_t k = i + 1; k < groups.size(); ++k) {
      const auto time = static_cast<double>(groups[k].begin_ns - groups[i].begin_ns);
      if (time > 0) slopes.push_back(static_cast<double>(groups[k].lowest - groups[i].lowest) / time);
    }
  }
  return slopes.empty() ? 0 : median(std::move(slopes)) * kNanosecondsAnHour;
}

}  // namespace

void GrowthWatch::add(std::int64_t time_ns, std::int64_t bytes) {
  if (has_samples_ && time_ns < last_ns_) return;
  has_samples_ = true;
  last_ns_ = time_ns;
  if (!open_) open_ = Group{time_ns, bytes};
  open_->lowest = std::min(open_->lowest, bytes);
  // Fallen below what were its lowest values: the groups would show it too, later.
  if (growth_.state != GrowthState::none && bytes < std::max(growth_.from_bytes + growth_.grown_bytes / 2, floor_)) {
    growth_ = {};
    growth_.has_fallen = true;
    rest_ns_ = time_ns;
  }
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
  Level& level = levels_[number];
  if (level.groups.size() == kKept) level.groups.erase(level.groups.begin());
  level.groups.push_back(group);
  if (!level.half) {
    level.half = group;
    return;
  }
  const Group first = *level.half;
  level.half.reset();
  complete(number + 1, {first.begin_ns, std::min(first.lowest, group.lowest)});
}

// Of the samples that came after the last group of a level.
std::optional<std::int64_t> GrowthWatch::lowest_since(std::size_t number) const {
  std::optional<std::int64_t> lowest;
  if (open_) lowest = open_->lowest;
  for (std::size_t i = 0; i < number; ++i) {
    if (levels_[i].half) lowest = std::min(lowest.value_or(levels_[i].half->lowest), levels_[i].half->lowest);
  }
  return lowest;
}

// The last groups of a level with what of each is still there: no later sample was lower.
std::vector<GrowthWatch::Group> GrowthWatch::lasting(std::size_t number, std::size_t fewest) const {
  const std::vector<Group>& groups = levels_[number].groups;
  std::vector<Group> kept(groups.end() - static_cast<std::ptrdiff_t>(fewest), groups.end());
  std::int64_t lowest = lowest_since(number).value_or(INT64_MAX);
  for (std::size_t i = kept.size(); i-- > 0;) lowest = kept[i].lowest = std::min(kept[i].lowest, lowest);
  return kept;
}

// Whether the latest groups, of a quarter of the level's width, rise no more.
bool GrowthWatch::is_at_rest(std::size_t number, std::int64_t small_step) const {
  if (number < 2) return false;
  const std::vector<Group>& groups = levels_[number - 2].groups;
  return groups.size() > 1 && groups.back().lowest - groups[groups.size() - 2].lowest < small_step / 4;
}

// Has the level risen as long as this before, by a fourth as much or more, and fallen back? Asked of its own width and
// of wider ones, which remember longer. What has risen for half as long again as ever before is something new.
bool GrowthWatch::has_fallen_so_before(std::size_t number, std::int64_t rise) const {
  for (std::size_t i = number; i < levels_.size(); ++i) {
    const std::vector<Group>& groups = levels_[i].groups;
    if (groups.size() < 2) break;
    const std::int64_t width = width_of(groups);
    std::size_t peak = 0;
    for (std::size_t at = 1; at < groups.size(); ++at) {
      if (groups[at].lowest > groups[peak].lowest) peak = at;
      const std::int64_t fall = groups[peak].lowest - groups[at].lowest;
      if (fall <= rise / 4) continue;
      if (i == number) return true;  // noise, or a rhythm about as long as the group
      std::size_t begin = peak;
      while (begin > 0 && groups[begin - 1].lowest > groups[at].lowest) --begin;
      // Where a part of the rise stays, the rise began earlier.
      std::size_t first = begin;
      while (first > 0 && groups[first - 1].lowest < groups[first].lowest) --first;
      const std::int64_t undone_ns = groups[peak].begin_ns - groups[begin].begin_ns + 2 * width;
      const std::int64_t rise_ns = std::min(2 * undone_ns, undone_ns + groups[begin].begin_ns - groups[first].begin_ns);
      if (last_ns_ - groups[at].begin_ns < rise_ns + rise_ns / 2) return true;
    }
  }
  return false;
}

// Do the last `fewest` groups rise, all but one of them, steadily, and by far more than the level ever fell?
std::optional<Growth> GrowthWatch::rising(std::size_t number, std::size_t fewest, GrowthState state) const {
  const std::vector<Group>& all = levels_[number].groups;
  if (all.size() < fewest || all[all.size() - 2].begin_ns < rest_ns_) return std::nullopt;
  const std::vector<Group> groups = lasting(number, fewest);
  const std::int64_t rise = groups.back().lowest - groups.front().lowest;
  const bool is_so_far = state == GrowthState::so_far;
  if (rise < (is_so_far ? kFewestSoFar : static_cast<std::int64_t>(fewest) * kMebibyte)) return std::nullopt;
  const std::int64_t small_step = rise / static_cast<std::int64_t>(8 * fewest);
  std::size_t small_steps = 0;
  std::int64_t largest_step = 0;
  for (std::size_t i = 1; i < groups.size(); ++i) {
    const std::int64_t step = groups[i].lowest - groups[i - 1].lowest;
    largest_step = std::max(largest_step, step);
    if (step < small_step) ++small_steps;
    if (step < small_step && i + 1 == groups.size()) return std::nullopt;  // it may have stopped
  }
  if (small_steps > (fewest > kGroupsSoFar ? 1U : 0U)) return std::nullopt;
  if (largest_step > rise * 6 / 10 || is_slowing(groups) || is_at_rest(number, small_step)) return std::nullopt;
  if (has_fallen_so_before(number, rise)) return std::nullopt;
  Growth growth;
  growth.state = state;
  growth.bytes_per_hour = slope(groups);
  std::size_t since = all.size() - fewest;
  // A level that has begun to rise within these groups was at rest before.
  if (all[since + 1].lowest - all[since].lowest < small_step) ++since;
  // Back to where it began, but not through a jump: that was something else.
  const auto step_to = [&](std::size_t i) { return all[i].lowest - all[i - 1].lowest; };
  while (since > 0 && step_to(since) > 0 && step_to(since) <= 2 * largest_step) --since;
  growth.since_ns = all[since].begin_ns;
  growth.from_bytes = all[since].lowest;
  growth.grown_bytes = groups.back().lowest - growth.from_bytes;
  growth.grown_ns = groups.back().begin_ns - growth.since_ns;
  if (growth.grown_ns < (is_so_far ? kShortestSoFarNs : 1) || growth.bytes_per_hour <= 0) return std::nullopt;
  return growth;
}

// No group of late has risen by more than a fifth of what it should.
bool GrowthWatch::has_levelled_off() const {
  const std::vector<Group>& groups = levels_[found_level_].groups;
  if (groups.size() < 3) return false;
  const std::int64_t width = width_of(groups);
  const double expected = growth_.bytes_per_hour * static_cast<double>(width) / kNanosecondsAnHour;
  std::size_t last = groups.size() - 1;  // the last that has risen
  while (last > 0 && static_cast<double>(groups[last].lowest - groups[last - 1].lowest) < expected / 5) --last;
  std::int64_t longest_ns = 2 * width;
  if (growth_.state == GrowthState::growing) {
    longest_ns = std::max(longest_ns, std::min(growth_.grown_ns / 2, kLongestPauseNs));
  }
  return last_ns_ - groups[last].begin_ns >= longest_ns + width;
}

void GrowthWatch::take(const Growth& found, std::size_t number) {
  const Growth before = std::exchange(growth_, found);
  found_level_ = number;
  if (found.state == GrowthState::none) return;
  const std::vector<Group>& groups = levels_[number].groups;
  const std::size_t first = groups.size() - (found.state == GrowthState::growing ? kGroupsGrowing : kGroupsSoFar);
  floor_ = groups[first].lowest + (groups.back().lowest - groups[first].lowest) / 2;
  if (before.state != GrowthState::growing) return;
  if (before.since_ns >= found.since_ns || before.from_bytes > found.from_bytes) return;
  // The same growth: groups remember less than its whole time.
  growth_.since_ns = before.since_ns;
  growth_.from_bytes = before.from_bytes;
  growth_.grown_bytes += found.from_bytes - before.from_bytes;
  growth_.grown_ns += found.since_ns - before.since_ns;
}

void GrowthWatch::judge() {
  Growth found;
  std::size_t found_at = 0;
  double rate = 0;  // of the narrowest
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    const std::vector<Group>& groups = levels_[i].groups;
    if (groups.size() < kGroupsSoFar) break;
    std::optional<Growth> here;
    if (groups.size() >= kGroupsGrowing && width_of(groups) >= kFewestGroupNs) {
      // Over a longer time it slows down: a cache that fills. Then narrower groups, which cannot see that, do not
      // count.
      if (is_slowing(lasting(i, kGroupsGrowing))) found = {};
      here = rising(i, kGroupsGrowing, GrowthState::growing);
    }
    if (!here && i < kLevelsSoFar) here = rising(i, kGroupsSoFar, GrowthState::so_far);
    if (!here || found.state > here->state) continue;
    if (found.state == GrowthState::growing) {
      // A longer time tells the rate better, unless it has changed.
      if (std::abs(here->bytes_per_hour / rate - 1) < 0.3) found.bytes_per_hour = here->bytes_per_hour;
      continue;
    }
    found = *here;
    found_at = i;
    rate = found.bytes_per_hour;
  }
  // Wider groups cannot see yet that what narrower ones have found is at rest.
  const bool is_wider = growth_.state == GrowthState::growing && found_at > found_level_;
  const bool is_less = found.state == GrowthState::none || found.state < growth_.state || is_wider;
  if (growth_.state == GrowthState::none || !is_less) {
    if (found.state != GrowthState::none) take(found, found_at);
    return;
  }
  if (!has_levelled_off()) return;  // as it was
  if (growth_.state == GrowthState::growing) {
    rest_ns_ = last_ns_;
    found = {};
  }
  take(found, found_at);
}

}  // namespace vramscope
