#include "analysis/launches.h"

#include <algorithm>

#include "analysis/enclosing_ops.h"
#include "base/parallel.h"

namespace vramscope {

namespace {

// Spans by their id. Ids are counters, nearly dense in real files: then a table of offsets finds them, else a
// binary search. 0 is no id: profilers write it where they know none.
class SpansById {
 public:
  template <typename Wanted>
  SpansById(const Trace& trace, const Wanted& wanted) : trace_(trace) {
    for (SpanIndex i = 0; i < trace.spans.size(); ++i) {
      if (is_id(trace.spans.id[i]) && wanted(trace.kind(i))) spans_.push_back(i);
    }
    const auto less = [&](SpanIndex a, SpanIndex b) {
      if (id(a) != id(b)) return id(a) < id(b);
      return trace.spans.start_ns[a] != trace.spans.start_ns[b] ? trace.spans.start_ns[a] < trace.spans.start_ns[b]
                                                                : a < b;
    };
    if (!std::is_sorted(spans_.begin(), spans_.end(), less)) std::sort(spans_.begin(), spans_.end(), less);
    if (spans_.empty()) return;
    first_id_ = id(spans_.front());
    const std::uint64_t range = static_cast<std::uint64_t>(id(spans_.back())) - static_cast<std::uint64_t>(first_id_);
    if (range / 8 > spans_.size() + 1024) return;
    offsets_.assign(static_cast<std::size_t>(range) + 2, 0);
    for (const SpanIndex span : spans_) ++offsets_[slot(id(span)) + 1];
    for (std::size_t i = 1; i < offsets_.size(); ++i) offsets_[i] += offsets_[i - 1];
  }

  static bool is_id(std::int64_t id) { return id != kUnknown && id != 0; }
  bool empty() const { return spans_.empty(); }

  // Of the spans with this id the last that starts no later than `time_ns`, else the first; kNone without any.
  SpanIndex find(std::int64_t wanted, std::int64_t time_ns) const {
    if (!is_id(wanted)) return kNone;
    const auto [begin, end] = range_of(wanted);
    if (begin == end) return kNone;
    const auto later = std::upper_bound(
        begin, end, time_ns, [&](std::int64_t time, SpanIndex span) { return time < trace_.spans.start_ns[span]; });
    return later == begin ? *begin : later[-1];
  }

 private:
  std::int64_t id(SpanIndex span) const { return trace_.spans.id[span]; }
  std::size_t slot(std::int64_t of) const {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(of) - static_cast<std::uint64_t>(first_id_));
  }
  std::pair<const SpanIndex*, const SpanIndex*> range_of(std::int64_t wanted) const {
    const SpanIndex* const all = spans_.data();
    if (offsets_.empty()) {
      const SpanIndex* const begin = std::lower_bound(
          all, all + spans_.size(), wanted, [&](SpanIndex span, std::int64_t value) { return id(span) < value; });
      const SpanIndex* const end = std::upper_bound(
          begin, all + spans_.size(), wanted, [&](std::int64_t value, SpanIndex span) { return value < id(span); });
      return {begin, end};
    }
    if (wanted < first_id_ || slot(wanted) + 1 >= offsets_.size()) return {all, all};
    return {all + offsets_[slot(wanted)], all + offsets_[slot(wanted) + 1]};
  }

  const Trace& trace_;
  std::vector<SpanIndex> spans_;
  std::vector<std::uint32_t> offsets_;
  std::int64_t first_id_ = 0;
};

std::int64_t external_id(const Trace& trace, SpanIndex work) {
  const DeviceArgs* const args = trace.device_args_of(work);
  return args == nullptr ? kUnknown : args->external_id;
}

// Some exporters write the correlation id in the place of the External id. One equal pair may be chance, so where
// ids are equal they must at least name the operators that the correlation finds.
bool external_ids_tell(const Trace& trace, const Launches& launches) {
  std::size_t both = 0;
  std::size_t equal = 0;
  std::size_t found = 0;
  std::size_t agree = 0;
  for (std::size_t i = 0; i < launches.work.size(); ++i) {
    const std::int64_t external = external_id(trace, launches.work[i]);
    const std::int64_t correlation = trace.spans.id[launches.work[i]];
    if (!SpansById::is_id(external)) continue;
    if (SpansById::is_id(correlation)) {
      ++both;
      if (external == correlation) ++equal;
    }
    if (launches.launcher[i] == kNone) continue;
    ++found;
    if (trace.spans.id[launches.launcher[i]] == external) ++agree;
  }
  const bool nearly_all_equal = both > 0 && equal * 10 >= both * 9;
  return !nearly_all_equal || (found > 0 && agree * 10 >= found * 9);
}

template <typename Work>
void in_chunks(std::size_t count, const Work& work) {
  constexpr std::size_t kChunk = 4096;
  parallel_for((count + kChunk - 1) / kChunk, [&](std::size_t chunk) {
    for (std::size_t i = chunk * kChunk; i < std::min(count, (chunk + 1) * kChunk); ++i) work(i);
  });
}

}  // namespace

Launches find_launches(const Trace& trace, const Column<SpanIndex>& enclosing) {
  Launches launches;
  for (SpanIndex i = 0; i < trace.spans.size(); ++i) {
    if (is_device_work(trace.kind(i))) launches.work.push_back(i);
  }
  launches.call.assign(launches.work.size(), kNone);
  launches.launcher.assign(launches.work.size(), kNone);
  if (launches.work.empty()) return launches;
  const SpansById calls(trace,
                        [](SpanKind kind) { return kind == SpanKind::runtime_api || kind == SpanKind::driver_api; });
  in_chunks(launches.work.size(), [&](std::size_t i) {
    const SpanIndex work = launches.work[i];
    launches.call[i] = calls.find(trace.spans.id[work], trace.spans.start_ns[work]);
    if (launches.call[i] != kNone) launches.launcher[i] = enclosing[launches.call[i]];
  });
  launches.external_ids_tell = external_ids_tell(trace, launches);
  const auto is_lost = [](SpanIndex launcher) { return launcher == kNone; };
  if (!launches.external_ids_tell || std::none_of(launches.launcher.begin(), launches.launcher.end(), is_lost)) {
    return launches;
  }
  const SpansById ops(trace, [](SpanKind kind) { return kind == SpanKind::cpu_op; });
  in_chunks(launches.work.size(), [&](std::size_t i) {
    if (launches.launcher[i] != kNone) return;
    const SpanIndex work = launches.work[i];
    launches.launcher[i] = ops.find(external_id(trace, work), trace.spans.start_ns[work]);
  });
  return launches;
}

}  // namespace vramscope
