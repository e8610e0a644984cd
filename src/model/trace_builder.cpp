#include "model/trace_builder.h"

#include <algorithm>
#include <limits>

#include "base/saturate.h"

namespace vramscope {

namespace {

std::uint64_t pair_key(std::uint32_t a, std::uint32_t b) {
  return (std::uint64_t{a} << 32) | b;
}

}  // namespace

TraceBuilder::TraceBuilder() = default;

CategoryId TraceBuilder::category(StringId name, SpanKind kind) {
  const auto found = category_ids_.find(name);
  if (found != category_ids_.end()) return found->second;
  constexpr std::size_t kMost = std::numeric_limits<CategoryId>::max();
  if (trace_.categories.size() + 1 >= kMost) {
    name = trace_.strings.intern("(more categories)");
    kind = SpanKind::other;
    if (const auto more = category_ids_.find(name); more != category_ids_.end()) return more->second;
  }
  const auto id = static_cast<CategoryId>(trace_.categories.size());
  trace_.categories.push_back({name, kind});
  category_ids_.emplace(name, id);
  return id;
}

TrackId TraceBuilder::track(StringId pid, StringId tid) {
  const auto [slot, is_new] = track_ids_.try_emplace(pair_key(pid, tid), static_cast<TrackId>(trace_.tracks.size()));
  if (is_new) {
    Track made;
    made.pid = pid;
    made.tid = tid;
    trace_.tracks.push_back(made);
  }
  return slot->second;
}

void TraceBuilder::name_track(StringId pid, StringId tid, StringId name) {
  trace_.tracks[track(pid, tid)].name = name;
}

void TraceBuilder::name_process(StringId pid, StringId name) {
  process_names_[pid] = name;
}

StackId TraceBuilder::stack(StringId text) {
  if (text == 0) return 0;
  const auto [slot, is_new] = stack_ids_.try_emplace(text, 0);
  if (!is_new) return slot->second;
  // From the outermost frame inwards, so that shared callers share nodes.
  std::string_view rest = trace_.strings.view(text);
  StackId node = 0;
  while (!rest.empty()) {
    const std::size_t cut = rest.rfind(';');
    std::string_view frame = cut == std::string_view::npos ? rest : rest.substr(cut + 1);
    rest = cut == std::string_view::npos ? std::string_view() : rest.substr(0, cut);
    while (!frame.empty() && frame.front() == ' ') frame.remove_prefix(1);
    if (frame.empty()) continue;
    const StringId name = trace_.strings.intern(frame);
    const auto next = static_cast<StackId>(trace_.stacks.nodes.size());
    const auto [found, is_new_node] = stack_nodes_.try_emplace(pair_key(node, name), next);
    if (is_new_node) trace_.stacks.nodes.push_back({name, node});
    node = found->second;
  }
  slot->second = node;  // interning frames does not touch stack_ids_, so the slot is still good
  return node;
}

std::uint32_t TraceBuilder::add(const OpArgs& args) {
  trace_.op_args.push_back(args);
  return static_cast<std::uint32_t>(trace_.op_args.size() - 1);
}

std::uint32_t TraceBuilder::add(const DeviceArgs& args) {
  trace_.device_args.push_back(args);
  return static_cast<std::uint32_t>(trace_.device_args.size() - 1);
}

void TraceBuilder::add(const SpanRow& row) {
  std::int64_t duration = row.duration_ns;
  if (duration < 0) {
    note("negative_duration", row.offset);
    duration = 0;
  } else if (row.start_ns > std::numeric_limits<std::int64_t>::max() - duration) {
    note("time_out_of_range", row.offset);
    duration = std::numeric_limits<std::int64_t>::max() - row.start_ns;
  }
  Spans& spans = trace_.spans;
  spans.start_ns.push_back(row.start_ns);
  spans.duration_ns.push_back(duration);
  spans.id.push_back(row.id);
  spans.name.push_back(row.name);
  spans.track.push_back(row.track);
  spans.stack.push_back(row.stack);
  spans.args.push_back(row.args);
  spans.category.push_back(row.category);
  span_offsets_.push_back(row.offset);
}

void TraceBuilder::add(const MemoryRow& row) {
  std::vector<MemoryDevice>& devices = trace_.memory_devices;
  MemoryDevice device = row.device;
  device.process = trace_.tracks[row.track].pid;
  if (last_device_ >= devices.size() || !(devices[last_device_] == device)) {
    const auto found = std::find(devices.begin(), devices.end(), device);
    if (found == devices.end() && devices.size() >= kMostMemoryDevices) {
      note("too_many_memory_devices", 0);
      return;
    }
    last_device_ = static_cast<std::uint32_t>(found - devices.begin());
    if (found == devices.end()) devices.push_back(device);
  }
  MemoryEvents& memory = trace_.memory;
  memory.time_ns.push_back(row.time_ns);
  memory.bytes.push_back(row.bytes);
  memory.address.push_back(row.address);
  memory.total_allocated.push_back(row.total_allocated);
  memory.total_reserved.push_back(row.total_reserved);
  memory.track.push_back(row.track);
  memory.device.push_back(last_device_);
}

void TraceBuilder::add_counter(StringId name, StringId key, TrackId track, std::int64_t time_ns, double value) {
  const std::uint64_t both = pair_key(name, key) ^ (std::uint64_t{track} * 0x9e3779b97f4a7c15u);
  auto [slot, is_new] = counter_ids_.try_emplace(both, trace_.counters.size());
  if (is_new) {
    CounterSeries made;
    made.name = name;
    made.key = key;
    made.track = track;
    trace_.counters.push_back(std::move(made));
  }
  CounterSeries& series = trace_.counters[slot->second];
  series.time_ns.push_back(time_ns);
  series.value.push_back(value);
}

void TraceBuilder::note(std::string_view name, std::int64_t offset, std::int64_t count) {
  for (Trouble& trouble : trouble_) {
    if (trouble.name != name) continue;
    trouble.count += count;
    trouble.first_offset = std::min(trouble.first_offset, offset);
    return;
  }
  trouble_.push_back({std::string(name), count, offset});
}

void TraceBuilder::finish(Source& source) {
  pair_marks();
  apply_time_base();
  sort_memory();
  order_tracks();
  find_steps();
  match_flows();
  for (CounterSeries& series : trace_.counters) {
    if (std::is_sorted(series.time_ns.begin(), series.time_ns.end())) continue;
    std::vector<std::pair<std::int64_t, double>> both;
    for (std::size_t i = 0; i < series.time_ns.size(); ++i) both.emplace_back(series.time_ns[i], series.value[i]);
    std::stable_sort(both.begin(), both.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < both.size(); ++i) {
      series.time_ns[i] = both[i].first;
      series.value[i] = both[i].second;
    }
  }
  for (Track& track : trace_.tracks) {
    if (const auto name = process_names_.find(track.pid); name != process_names_.end()) {
      track.process_name = name->second;
    }
  }
  std::sort(trouble_.begin(), trouble_.end(), [](const Trouble& a, const Trouble& b) { return a.name < b.name; });
  trace_.strings.seal();
  source.trace = std::move(trace_);
  source.trouble = std::move(trouble_);
}

void TraceBuilder::apply_time_base() {
  if (time_base_ns_ == 0) return;
  const auto shift = [&](std::int64_t& time_ns) { time_ns = saturating_add(time_ns, time_base_ns_); };
  for (std::int64_t& time_ns : trace_.spans.start_ns) shift(time_ns);
  // An end stays a number, too.
  for (std::size_t i = 0; i < trace_.spans.size(); ++i) {
    std::int64_t& duration_ns = trace_.spans.duration_ns[i];
    duration_ns = saturating_add(trace_.spans.start_ns[i], duration_ns) - trace_.spans.start_ns[i];
  }
  for (std::int64_t& time_ns : trace_.memory.time_ns) shift(time_ns);
  for (FlowRow& row : flows_) shift(row.time_ns);
  for (Instant& row : trace_.instants) shift(row.time_ns);
  for (CounterSeries& series : trace_.counters) {
    for (std::int64_t& time_ns : series.time_ns) shift(time_ns);
  }
}

// Begin and end events of a track nest: an end closes the innermost open begin of its name, or of any name.
void TraceBuilder::pair_marks() {
  std::stable_sort(marks_.begin(), marks_.end(), [](const MarkRow& a, const MarkRow& b) {
    return a.track != b.track ? a.track < b.track : a.time_ns < b.time_ns;
  });
  std::vector<MarkRow> open;
  const auto close = [&](const MarkRow& begin, std::int64_t end_ns) {
    SpanRow row;
    row.start_ns = begin.time_ns;
    row.duration_ns = saturating_sub(end_ns, begin.time_ns);
    row.id = begin.id;
    row.offset = begin.offset;
    row.name = begin.name;
    row.track = begin.track;
    row.args = begin.args;
    row.category = begin.category;
    add(row);
  };
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    const MarkRow& mark = marks_[i];
    if (mark.is_begin) {
      open.push_back(mark);
    } else if (open.empty()) {
      note("end_without_begin", mark.offset);
    } else {
      auto match = open.rbegin();
      if (mark.name != 0) {
        match = std::find_if(open.rbegin(), open.rend(), [&](const MarkRow& begin) { return begin.name == mark.name; });
        if (match == open.rend()) match = open.rbegin();
      }
      close(*match, mark.time_ns);
      open.erase(std::next(match).base());
    }
    const bool is_last_of_track = i + 1 == marks_.size() || marks_[i + 1].track != mark.track;
    if (!is_last_of_track) continue;
    for (const MarkRow& begin : open) {
      note("begin_without_end", begin.offset);
      close(begin, mark.time_ns);
    }
    open.clear();
  }
  marks_.clear();
}

void TraceBuilder::sort_memory() {
  MemoryEvents& memory = trace_.memory;
  const std::size_t count = memory.size();
  memory.span.resize(count, kNone);
  memory.frame.resize(count, kNone);
  if (!std::is_sorted(memory.time_ns.begin(), memory.time_ns.end())) {
    std::vector<std::uint32_t> order(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = static_cast<std::uint32_t>(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return memory.time_ns[a] < memory.time_ns[b]; });
    const auto permute = [&](auto& column) {
      std::remove_reference_t<decltype(column)> sorted;
      sorted.reserve(count);
      for (const std::uint32_t from : order) sorted.push_back(column[from]);
      column = std::move(sorted);
    };
    permute(memory.time_ns);
    permute(memory.bytes);
    permute(memory.address);
    permute(memory.total_allocated);
    permute(memory.total_reserved);
    permute(memory.track);
    permute(memory.device);
  }
  memory_begin_.assign(trace_.tracks.size() + 1, 0);
  for (const TrackId track : memory.track) ++memory_begin_[track + 1];
  for (std::size_t i = 1; i < memory_begin_.size(); ++i) memory_begin_[i] += memory_begin_[i - 1];
  std::vector<std::uint32_t> next = memory_begin_;
  memory_by_track_.resize(count);
  for (std::size_t i = 0; i < count; ++i) memory_by_track_[next[memory.track[i]]++] = static_cast<std::uint32_t>(i);
}

void TraceBuilder::find_steps() {
  constexpr std::string_view kStep = "ProfilerStep#";
  for (SpanIndex i = 0; i < trace_.spans.size(); ++i) {
    if (trace_.kind(i) != SpanKind::annotation && trace_.kind(i) != SpanKind::cpu_op) continue;
    const std::string_view name = trace_.name(i);
    if (name.size() <= kStep.size() || name.substr(0, kStep.size()) != kStep) continue;
    std::int64_t number = 0;
    bool is_number = name.size() <= kStep.size() + 18;
    for (const char digit : name.substr(kStep.size())) {
      is_number = is_number && digit >= '0' && digit <= '9';
      if (is_number) number = number * 10 + (digit - '0');
    }
    if (is_number) trace_.steps.push_back({number, trace_.spans.start_ns[i], trace_.end_ns(i), i});
  }
  std::stable_sort(trace_.steps.begin(), trace_.steps.end(), [](const Step& a, const Step& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
  });
  // The same step marked on two threads is one step: the first, longest mark stands.
  std::vector<Step> kept;
  for (const Step& step : trace_.steps) {
    const auto same = [&](const Step& other) { return other.number == step.number && step.begin_ns < other.end_ns; };
    const std::size_t look_back = std::min<std::size_t>(kept.size(), 64);
    if (std::none_of(kept.end() - static_cast<std::ptrdiff_t>(look_back), kept.end(), same)) kept.push_back(step);
  }
  trace_.steps = std::move(kept);
}

}  // namespace vramscope
