#include "report/snapshot_growth.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "analysis/memory_sums.h"
#include "report/paths.h"
#include "report/phrases.h"
#include "report/snapshot_json.h"
#include "report/snapshot_text.h"
#include "report/source_kind.h"
#include "text/terminal.h"
#include "text/wrap.h"

namespace vramscope {

namespace {

constexpr std::size_t kTopStacks = 6;
constexpr std::size_t kMoreFrames = 3;

std::optional<std::int64_t> end_of_log(const Source& source) {
  std::optional<std::int64_t> end_ns;
  for (const AllocatorDevice& device : source.memory_state->devices) {
    for (std::size_t i = device.log.size(); i > 0; --i) {
      if (device.log.time_ns[i - 1] == kUnknown) continue;
      end_ns = std::max(end_ns.value_or(device.log.time_ns[i - 1]), device.log.time_ns[i - 1]);
      break;
    }
  }
  return end_ns;
}

const AllocatorDevice* find_device(const Source& source, std::int32_t index) {
  for (const AllocatorDevice& device : source.memory_state->devices) {
    if (device.index == index) return &device;
  }
  return nullptr;
}

std::string stack_key(const Source& source, StackId stack) {
  std::string key;
  for (const StringId frame : readable_frames(source, stack)) {
    key += source.trace.strings.view(frame);
    key += '\n';
  }
  return key;
}

void add_snapshot(DeviceSeries& series, absl::flat_hash_map<std::string, std::size_t>& places, const Source& source,
                  const AllocatorDevice& device, std::size_t at) {
  SnapshotDevice facts;
  facts.device = &device;
  facts.replay = replay_log(device);
  const std::optional<Holders> holders = holders_at(source, facts, SnapshotMoment{}, HeldBy::stack);
  if (!holders) return;
  series.bytes[at] = holders->bytes;
  for (const HeldGroup& group : holders->groups) {
    const auto [place, is_new] = places.try_emplace(stack_key(source, group.stack), series.stacks.size());
    if (is_new) {
      series.stacks.emplace_back();
      series.stacks.back().bytes.resize(series.bytes.size());
      series.stacks.back().counts.resize(series.bytes.size());
    }
    StackSeries& stack = series.stacks[place->second];
    stack.source = &source;
    stack.stack = group.stack;
    stack.bytes[at] = add_bytes(stack.bytes[at], group.bytes);
    stack.counts[at] = add_bytes(stack.counts[at], group.count);
  }
}

std::string arrows(const std::vector<std::int64_t>& numbers, std::string (*format)(std::int64_t)) {
  constexpr std::size_t kMost = 8;
  const std::string arrow = terminal().utf8 ? " → " : " -> ";
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers.size() > kMost && i == kMost / 2) {
      text += arrow + (terminal().utf8 ? "…" : "...");
      i = numbers.size() - kMost / 2;
    }
    text += (i == 0 ? "" : arrow) + format(numbers[i]);
  }
  return text;
}

std::string signed_bytes(std::int64_t bytes) {
  return (bytes > 0 ? "+" : "") + format_bytes(bytes);
}

bool never_falls(const std::vector<std::int64_t>& levels) {
  return std::is_sorted(levels.begin(), levels.end()) && levels.front() < levels.back();
}

std::string series_text(const DeviceSeries& series, const MemoryOptions& options) {
  const std::string name = series.device < 0 ? "host" : fmt::format("cuda:{}", series.device);
  std::string text = "\n" + paint(name, Colour::bold) + "\n";
  text +=
      wrap(filled(tr("Live as asked for: {levels} ({change})"), fmt::arg("levels", arrows(series.bytes, format_bytes)),
                  fmt::arg("change", signed_bytes(subtract_bytes(series.bytes.back(), series.bytes.front())))),
           line_columns(), 2, 2);
  if (series.stacks.empty()) return text + wrap(tr("No stack holds more than before."), line_columns(), 2);
  const std::size_t shown = std::min(options.top.value_or(kTopStacks), series.stacks.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const StackSeries& stack = series.stacks[i];
    std::string line = paint(signed_bytes(stack.grown_bytes()), Colour::bold) + "  " +
                       arrows(stack.bytes, format_bytes) + "  " +
                       filled(tr("allocations: {counts}"), fmt::arg("counts", arrows(stack.counts, format_count)));
    if (stack.bytes.size() > 2) line += std::string("  ") + (stack.is_rising() ? tr("never falls") : tr("up and down"));
    text += wrap(line, line_columns(), 2, 2) + short_stack(*stack.source, stack.stack, kMoreFrames, 6);
  }
  if (shown < series.stacks.size()) {
    text +=
        wrap(counted(NN_("{count} more stack grew; --top 0 shows all.", "{count} more stacks grew; --top 0 shows all."),
                     static_cast<std::int64_t>(series.stacks.size() - shown)),
             line_columns(), 2);
  }
  return text;
}

}  // namespace

std::int64_t StackSeries::grown_bytes() const {
  return subtract_bytes(bytes.back(), bytes.front());
}
bool StackSeries::is_rising() const {
  return never_falls(bytes);
}

SnapshotOrder order_snapshots(const Case& input) {
  SnapshotOrder order;
  std::map<const Source*, std::int64_t> ends;
  for (const Source& source : input.sources) {
    if (kind_of(source) != SourceKind::snapshot) continue;
    order.sources.push_back(&source);
    if (const std::optional<std::int64_t> end_ns = end_of_log(source)) ends[&source] = *end_ns;
  }
  order.is_by_time = !order.sources.empty() && ends.size() == order.sources.size();
  if (order.is_by_time) {
    std::stable_sort(order.sources.begin(), order.sources.end(),
                     [&](const Source* a, const Source* b) { return ends[a] < ends[b]; });
  }
  return order;
}

std::vector<DeviceSeries> snapshot_series(const SnapshotOrder& order, const DeviceFilter& filter) {
  std::map<std::int32_t, std::size_t> holds;
  for (const Source* source : order.sources) {
    for (const AllocatorDevice& device : source->memory_state->devices) {
      if (wants_device(filter, device.index)) holds[device.index] += 1;
    }
  }
  std::vector<DeviceSeries> all;
  for (const auto& [index, count] : holds) {
    if (count < 2) continue;
    DeviceSeries series;
    series.device = index;
    series.bytes.resize(order.sources.size());
    absl::flat_hash_map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < order.sources.size(); ++i) {
      const AllocatorDevice* device = find_device(*order.sources[i], index);
      if (device != nullptr) add_snapshot(series, places, *order.sources[i], *device, i);
    }
    const auto did_not_grow = [](const StackSeries& stack) { return stack.grown_bytes() <= 0; };
    series.stacks.erase(std::remove_if(series.stacks.begin(), series.stacks.end(), did_not_grow), series.stacks.end());
    std::stable_sort(series.stacks.begin(), series.stacks.end(),
                     [](const StackSeries& a, const StackSeries& b) { return a.grown_bytes() > b.grown_bytes(); });
    const bool is_quiet = std::all_of(series.bytes.begin(), series.bytes.end(), [](auto bytes) { return bytes == 0; });
    if (!is_quiet) all.push_back(std::move(series));
  }
  return all;
}

std::string growth_text(const SnapshotOrder& order, const MemoryOptions& options) {
  if (order.sources.size() < 2) return {};
  std::string names;
  const std::string arrow = terminal().utf8 ? " → " : " -> ";
  for (const Source* source : order.sources) names += (names.empty() ? "" : arrow) + shown_path(source->path);
  const char* title = order.is_by_time ? tr("What grew between the snapshots, in order of time: {names}")
                                       : tr("What grew between the snapshots, in the order given: {names}");
  std::string text = wrap(paint(filled(title, fmt::arg("names", names)), Colour::bold), line_columns(), 0, 2);
  const std::vector<DeviceSeries> all = snapshot_series(order, options.device);
  if (all.empty()) return text + wrap(tr("No device is in more than one of them."), line_columns(), 2);
  for (const DeviceSeries& series : all) text += series_text(series, options);
  return text;
}

void write_growth(JsonWriter& json, const SnapshotOrder& order, const MemoryOptions& options) {
  json.begin_array();
  for (const DeviceSeries& series : snapshot_series(order, options.device)) {
    json.begin_object();
    json.member("device", std::string_view(series.device < 0 ? "host" : fmt::format("cuda:{}", series.device)));
    json.member("order", order.is_by_time ? "time" : "given");
    json.key("paths").begin_array();
    for (const Source* source : order.sources) json.value(std::string_view(source->path));
    json.end_array().key("live_bytes").begin_array();
    for (const std::int64_t bytes : series.bytes) json.value(bytes);
    json.end_array().key("stacks").begin_array();
    const std::size_t shown = std::min(options.top.value_or(series.stacks.size()), series.stacks.size());
    for (std::size_t i = 0; i < shown; ++i) {
      const StackSeries& stack = series.stacks[i];
      json.begin_object().member("grown_bytes", stack.grown_bytes()).member("is_rising", stack.is_rising());
      json.key("bytes").begin_array();
      for (const std::int64_t bytes : stack.bytes) json.value(bytes);
      json.end_array().key("counts").begin_array();
      for (const std::int64_t count : stack.counts) json.value(count);
      json.end_array().key("stack");
      write_stack(json, *stack.source, stack.stack);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

}  // namespace vramscope
