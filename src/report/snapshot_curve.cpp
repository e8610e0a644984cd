#include <algorithm>
#include <array>

#include "analysis/memory_sums.h"
#include "report/phrases.h"
#include "report/snapshot_text.h"
#include "text/curve.h"
#include "text/terminal.h"
#include "text/wrap.h"

namespace vramscope {

namespace {

constexpr std::size_t kMostMarks = 6;  // of failed allocations

std::string format_level(double bytes) {
  constexpr double kMost = 9e18;
  return format_bytes(static_cast<std::int64_t>(std::clamp(bytes, -kMost, kMost)));
}

std::string format_entry(std::int64_t entry) {
  return format_count(entry);
}

// Places of the log's entries on the time axis: their times where the log has them, else their numbers.
class LogAxis {
 public:
  explicit LogAxis(const SnapshotDevice& facts) : log_(facts.device->log) {
    is_time_ = log_.size() > 0 && facts.replay.first_time_ns != kUnknown &&
               facts.replay.last_time_ns > facts.replay.first_time_ns;
    begin_ = is_time_ ? facts.replay.first_time_ns : 0;
    const std::int64_t end = is_time_ ? facts.replay.last_time_ns : static_cast<std::int64_t>(log_.size());
    stretch_ = std::max<std::int64_t>(subtract_bytes(end, begin_) / kStretches, 1);
  }
  bool is_time() const { return is_time_; }
  std::int64_t begin() const { return begin_; }
  // Given the place of the entry before it, or begin(): places never go back.
  std::int64_t next(std::size_t entry, std::int64_t before) const {
    if (!is_time_) return static_cast<std::int64_t>(entry) + 1;
    return log_.time_ns[entry] == kUnknown ? before : std::max(before, log_.time_ns[entry]);
  }
  std::int64_t at(std::size_t entry) const {
    if (!is_time_) return static_cast<std::int64_t>(entry) + 1;
    std::int64_t place = begin_;
    for (std::size_t i = 0; i <= entry; ++i) place = next(i, place);
    return place;
  }
  // Stretches of the axis that are narrower than what a terminal can show.
  std::int64_t stretch_of(std::int64_t place) const { return subtract_bytes(place, begin_) / stretch_; }

 private:
  static constexpr std::int64_t kStretches = 8192;
  const AllocatorLog& log_;
  bool is_time_ = false;
  std::int64_t begin_ = 0;
  std::int64_t stretch_ = 1;
};

// Of each stretch of the axis the first, the lowest, the highest and the last level: the plot shows no more.
CurveLine line_of(const char* label, const Column<std::int64_t>& levels, std::int64_t before, const LogAxis& axis) {
  struct Point {
    std::size_t entry;
    std::int64_t place;
    std::int64_t level;
  };
  CurveLine line;
  line.label = label;
  line.points.emplace_back(axis.begin(), static_cast<double>(before));
  std::array<Point, 4> kept{};  // first, lowest, highest, last
  const auto flush = [&] {
    std::sort(kept.begin(), kept.end(), [](const Point& a, const Point& b) { return a.entry < b.entry; });
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (i > 0 && kept[i].entry == kept[i - 1].entry) continue;
      line.points.emplace_back(kept[i].place, static_cast<double>(kept[i].level));
    }
  };
  std::int64_t place = axis.begin();
  std::int64_t stretch = -1;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    place = axis.next(i, place);
    const Point point{i, place, levels[i]};
    if (axis.stretch_of(place) != stretch) {
      if (i > 0) flush();
      stretch = axis.stretch_of(place);
      kept.fill(point);
      continue;
    }
    if (point.level < kept[1].level) kept[1] = point;
    if (point.level > kept[2].level) kept[2] = point;
    kept[3] = point;
  }
  if (levels.size() > 0) flush();
  return line;
}

std::vector<CurveMark> marks_of(const SnapshotDevice& facts, const LogAxis& axis) {
  std::vector<CurveMark> marks;
  const std::size_t peak = facts.replay.peak_count;
  marks.push_back({peak == 0 ? axis.begin() : axis.at(peak - 1),
                   filled(tr("peak {bytes}"), fmt::arg("bytes", format_bytes(facts.replay.peak_bytes)))});
  for (std::size_t i = 0; i < std::min(kMostMarks, facts.ooms.size()); ++i) {
    if (facts.ooms[i].entry < facts.device->log.size()) marks.push_back({axis.at(facts.ooms[i].entry), tr("failed")});
  }
  return marks;
}

}  // namespace

std::string snapshot_curve_text(const SnapshotDevice& facts) {
  const Replay& replay = facts.replay;
  const std::size_t entries = facts.device->log.size();
  if (replay.allocs == 0 && replay.frees == 0) return {};  // marks alone
  if (entries == 0 || replay.live_bytes.size() != entries || replay.reserved_bytes.size() != entries) return {};
  const LogAxis axis(facts);
  std::vector<CurveLine> lines;
  lines.push_back(line_of(tr("live, as asked for"), replay.live_bytes, replay.baseline_bytes, axis));
  // What does not change is a line of the headline; drawn, it would squeeze the curve.
  const bool reserved_moves = std::any_of(replay.reserved_bytes.begin(), replay.reserved_bytes.end(),
                                          [&](std::int64_t bytes) { return bytes != replay.baseline_reserved_bytes; });
  if (reserved_moves) {
    lines.push_back(line_of(tr("reserved"), replay.reserved_bytes, replay.baseline_reserved_bytes, axis));
  }
  CurveOptions options;
  options.width = terminal().columns;
  options.ascii = !terminal().utf8;
  options.format_value = format_level;
  options.format_time = axis.is_time() ? format_duration : format_entry;
  std::string title = axis.is_time() ? tr("Memory over the time of the log")
                                     : tr("Memory over the entries of the log (they have no times)");
  std::string text = wrap(paint(title, Colour::bold), line_columns(), 2) + plot(lines, marks_of(facts, axis), options);
  if (replay.baseline_count > 0) {
    text += wrap(filled(tr_n(NN_("The log begins with {bytes} live in {count} block from before it, rewound from the "
                                 "blocks at the end.",
                                 "The log begins with {bytes} live in {count} blocks from before it, rewound from the "
                                 "blocks at the end."),
                             static_cast<long>(replay.baseline_count)),
                        fmt::arg("bytes", format_bytes(replay.baseline_bytes)),
                        fmt::arg("count", format_count(replay.baseline_count))),
                 line_columns(), 2);
  }
  if (replay.baseline_rounded_bytes > 0) {
    text += wrap(filled(tr("{bytes} of it is known as rounded sizes alone."),
                        fmt::arg("bytes", format_bytes(replay.baseline_rounded_bytes))),
                 line_columns(), 2);
  }
  return text;
}

}  // namespace vramscope
