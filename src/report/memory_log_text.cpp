#include <algorithm>
#include <set>

#include "analysis/memory_sums.h"
#include "report/memory_log.h"
#include "report/oom_text.h"
#include "report/paths.h"
#include "report/phrases.h"
#include "text/curve.h"
#include "text/date.h"
#include "text/table.h"
#include "text/terminal.h"
#include "text/utf8.h"
#include "text/wrap.h"

namespace vramscope {

namespace {

constexpr std::size_t kMostOoms = 5;
constexpr std::size_t kFewestToJudge = 4;  // samples
constexpr const char* kAllocated = "allocated_bytes.all.current";
constexpr const char* kReserved = "reserved_bytes.all.current";

std::optional<std::int64_t> value_of(const AllocatorStats& stats, const std::string& key) {
  const auto found = stats.values.find(key);
  if (found == stats.values.end()) return std::nullopt;
  return found->second;
}

enum class Axis { step, time, sample };

Axis axis_of(const StatsSeries& series) {
  bool has_steps = true;
  bool has_times = true;
  for (std::size_t i = 0; i < series.samples.size(); ++i) {
    const AllocatorStats& each = *series.samples[i];
    const AllocatorStats* before = i == 0 ? nullptr : series.samples[i - 1];
    has_steps = has_steps && each.step && (before == nullptr || (before->step && *before->step < *each.step));
    has_times =
        has_times && each.time_ns && (before == nullptr || (before->time_ns && *before->time_ns <= *each.time_ns));
  }
  if (has_steps) return Axis::step;
  return has_times ? Axis::time : Axis::sample;
}

std::int64_t position(const StatsSeries& series, Axis axis, std::size_t i) {
  const AllocatorStats& each = *series.samples[i];
  if (axis == Axis::step && each.step) return *each.step;
  if (axis == Axis::time && each.time_ns) return *each.time_ns;
  return static_cast<std::int64_t>(i) + 1;
}

std::string format_level(double bytes) {
  constexpr double kMost = 9e18;
  return format_bytes(static_cast<std::int64_t>(std::clamp(bytes, -kMost, kMost)));
}

CurveLine line_of(const StatsSeries& series, Axis axis, const char* label, const char* key) {
  CurveLine line;
  line.label = label;
  for (std::size_t i = 0; i < series.samples.size(); ++i) {
    const std::optional<std::int64_t> value = value_of(*series.samples[i], key);
    if (value) line.points.emplace_back(position(series, axis, i), static_cast<double>(*value));
  }
  return line;
}

std::string curve_text(const StatsSeries& series) {
  if (series.samples.size() < 2) return {};
  const Axis axis = axis_of(series);
  std::vector<CurveLine> lines;
  struct Plotted {
    const char* label;
    const char* key;
  };
  for (const Plotted& each :
       {Plotted{N_("allocated"), kAllocated}, Plotted{N_("allocated, highest so far"), "allocated_bytes.all.peak"},
        Plotted{N_("reserved"), kReserved}}) {
    CurveLine line = line_of(series, axis, tr(each.label), each.key);
    if (line.points.size() > 1) lines.push_back(std::move(line));
  }
  if (lines.empty()) return {};
  // Labels count from the first point, so a line at nothing stands for the beginning.
  CurveOptions options;
  options.width = terminal().columns;
  options.ascii = !terminal().utf8;
  options.format_value = format_level;
  options.format_time = axis == Axis::time ? format_duration : format_count;
  options.steps = false;
  std::string title = axis == Axis::step   ? filled(tr("Memory over steps, from step {first} on"),
                                                    fmt::arg("first", position(series, axis, 0)))
                      : axis == Axis::time ? std::string(tr("Memory over time"))
                                           : std::string(tr("Memory from sample to sample"));
  return "\n" + wrap(paint(title, Colour::bold), line_columns(), 2) + plot(lines, {}, options);
}

// "Allocated memory rises by … a step": by the samples alone.
std::string verdict_text(const StatsSeries& series) {
  std::vector<std::int64_t> levels;
  std::vector<std::int64_t> places;
  std::int64_t resolution = 1;
  const Axis axis = axis_of(series);
  for (std::size_t i = 0; i < series.samples.size(); ++i) {
    const std::optional<std::int64_t> value = value_of(*series.samples[i], kAllocated);
    if (!value) continue;
    levels.push_back(*value);
    places.push_back(position(series, axis, i));
    resolution = std::max(resolution, series.samples[i]->resolution_bytes);
  }
  if (levels.size() < 2) return {};
  std::int64_t higher = 0;
  for (std::size_t i = 1; i < levels.size(); ++i) higher += levels[i] > levels[i - 1] ? 1 : 0;
  const std::int64_t pairs = static_cast<std::int64_t>(levels.size()) - 1;
  const std::int64_t change = subtract_bytes(levels.back(), levels.front());
  const std::int64_t length = std::max<std::int64_t>(subtract_bytes(places.back(), places.front()), 1);
  const std::int64_t each = axis == Axis::step ? change / length : change / pairs;
  const auto fill = [&](const char* text) {
    return filled(text, fmt::arg("bytes", format_bytes(each)), fmt::arg("higher", format_count(higher)),
                  fmt::arg("pairs", format_count(pairs)), fmt::arg("change", format_bytes(change)));
  };
  const bool rises = change > resolution && higher * 5 >= pairs * 4;
  if (rises && levels.size() >= kFewestToJudge) {
    const std::string text =
        axis == Axis::step
            ? fill(tr("Allocated memory keeps rising: by {bytes} a step, {change} in all ({higher} of {pairs} samples "
                      "are higher than the one before)."))
            : fill(tr("Allocated memory keeps rising: by {bytes} a sample, {change} in all ({higher} of {pairs} "
                      "samples are higher than the one before)."));
    return wrap(paint(text, Colour::yellow), line_columns(), 2, 2);
  }
  return wrap(fill(tr("Allocated memory does not keep rising: {change} from the first to the last sample ({higher} of "
                      "{pairs} samples are higher than the one before).")),
              line_columns(), 2, 2);
}

bool is_shown_key(const std::string& key) {
  if (key == "num_ooms" || key == "num_alloc_retries") return true;
  const auto ends_in = [&](std::string_view end) {
    return key.size() > end.size() && std::string_view(key).substr(key.size() - end.size()) == end;
  };
  return ends_in(".all.current") || ends_in(".all.peak");
}

std::string table_text(const StatsSeries& series) {
  std::set<std::string> keys;
  for (const AllocatorStats* sample : series.samples) {
    for (const auto& [key, value] : sample->values) {
      if (is_shown_key(key)) keys.insert(key);
    }
  }
  TextTable table;
  table.columns = {{tr("Key of memory_stats()"), Align::left, Shrink::middle, 0, 16},
                   {tr("First"), Align::right, Shrink::no, 1},
                   {tr("Last"), Align::right},
                   {tr("Highest"), Align::right, Shrink::no, 2}};
  for (const std::string& key : keys) {
    std::optional<std::int64_t> first;
    std::int64_t last = 0;
    std::int64_t highest = 0;
    for (const AllocatorStats* sample : series.samples) {
      const std::optional<std::int64_t> value = value_of(*sample, key);
      if (!value) continue;
      highest = first ? std::max(highest, *value) : *value;
      first = first.value_or(*value);
      last = *value;
    }
    const auto format = key.find("_bytes") != std::string::npos ? format_bytes : format_count;
    table.rows.push_back({key, format(first.value_or(0)), format(last), format(highest)});
  }
  return table.rows.empty() ? std::string() : "\n" + render(table, table_columns(), 2);
}

std::string oom_title(const OutOfMemory& event) {
  std::string title = event.device ? filled(tr("Out of memory on device {device}"), fmt::arg("device", *event.device))
                                   : std::string(tr("Out of memory"));
  if (event.line > 0) title += filled(tr(", line {line}"), fmt::arg("line", format_count(event.line)));
  if (!event.framework.empty()) title += " (" + printable(event.framework) + ")";
  if (event.count > 1) title += ", " + counted(NN_("{count} time", "{count} times"), event.count);
  return title;
}

std::string ooms_text(const std::vector<const OutOfMemory*>& events,
                      const std::map<std::string, std::string>& settings) {
  constexpr std::size_t kMostText = 160;
  std::string text;
  const std::size_t shown = std::min(kMostOoms, events.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const OutOfMemory& event = *events[i];
    text += "\n" + wrap(paint(oom_title(event), Colour::bold), line_columns(), 2);
    if (!event.text.empty()) {
      text +=
          wrap(paint(elide_end(printable(event.text), kMostText, !terminal().utf8), Colour::grey), line_columns(), 2);
    }
    text += oom_text(event, explain_oom(event, settings));
  }
  if (shown < events.size()) {
    text += "\n" + wrap(counted(NN_("{count} more message like these; --json has all.",
                                    "{count} more messages like these; --json has all."),
                                static_cast<std::int64_t>(events.size() - shown)),
                        line_columns(), 2);
  }
  return text;
}

std::string span_text(const StatsSeries& series) {
  const AllocatorStats& first = *series.samples.front();
  const AllocatorStats& last = *series.samples.back();
  std::string text =
      "  " + counted(NN_("{count} sample", "{count} samples"), static_cast<std::int64_t>(series.samples.size()));
  if (first.step && last.step && series.samples.size() > 1) {
    text += filled(tr(", steps {first} to {last}"), fmt::arg("first", *first.step), fmt::arg("last", *last.step));
  }
  if (first.time_ns) text += filled(tr(", from {date}"), fmt::arg("date", format_utc(*first.time_ns)));
  return text;
}

}  // namespace

std::vector<StatsSeries> stats_series(const Source& source, const DeviceFilter& filter) {
  std::map<std::int32_t, StatsSeries> by_device;
  for (const AllocatorStats& sample : source.allocator_stats) {
    if (!wants_device(filter, sample.device)) continue;
    StatsSeries& series = by_device[sample.device];
    series.device = sample.device;
    series.samples.push_back(&sample);
  }
  std::vector<StatsSeries> all;
  for (auto& [device, series] : by_device) all.push_back(std::move(series));
  return all;
}

std::map<std::string, std::string> settings_of(const Case& input) {
  for (const Source& source : input.sources) {
    if (source.memory_state && !source.memory_state->settings.empty()) return source.memory_state->settings;
  }
  return {};
}

std::string log_text(const Source& source, const Case& input, const MemoryOptions& options) {
  const std::vector<StatsSeries> all = stats_series(source, options.device);
  std::vector<const OutOfMemory*> events;
  std::int64_t messages = 0;
  for (const OutOfMemory& event : source.out_of_memory) {
    if (event.device && !wants_device(options.device, *event.device)) continue;
    events.push_back(&event);
    messages = add_bytes(messages, event.count);
  }
  std::int64_t samples = 0;
  for (const StatsSeries& series : all) samples += static_cast<std::int64_t>(series.samples.size());
  std::string header = paint(shown_path(source.path), Colour::bold);
  if (messages > 0) {
    header += "  " + counted(NN_("{count} out-of-memory message", "{count} out-of-memory messages"), messages);
  }
  if (samples > 0) header += "  " + counted(NN_("{count} memory summary", "{count} memory summaries"), samples);
  std::string text = wrap(header, line_columns(), 0, 2) + ooms_text(events, settings_of(input));
  for (const StatsSeries& series : all) {
    const std::string title = paint(fmt::format("cuda:{}", series.device), Colour::bold) + span_text(series);
    text += "\n" + wrap(title, line_columns(), 0, 2);
    text += verdict_text(series) + curve_text(series) + table_text(series);
  }
  return text;
}

}  // namespace vramscope
