#include <algorithm>

#include "analysis/memory_sums.h"
#include "fmt/format.h"
#include "report/device_name.h"
#include "report/fact_lines.h"
#include "report/memory.h"
#include "report/memory_live_text.h"
#include "report/memory_log.h"
#include "report/paths.h"
#include "report/snapshot_growth.h"
#include "report/snapshot_text.h"
#include "report/source_kind.h"
#include "report/unusable_memory.h"
#include "text/catalogue.h"
#include "text/curve.h"
#include "text/format.h"
#include "text/table.h"
#include "text/terminal.h"
#include "text/utf8.h"
#include "text/wrap.h"

namespace vramscope {

namespace {

constexpr std::size_t kStepRows = 10;  // of the steps' table; more are shown as the first and the last
constexpr std::int64_t kFlatBytes =
    64 * 1024;  // a curve that moves less is told in words beside a device that has more

std::string count_of(std::int64_t count, std::string_view both) {
  return fmt::format(fmt::runtime(tr_n(both, static_cast<long>(count))), fmt::arg("count", format_count(count)));
}

std::int64_t range_of(const DeviceMemory& memory) {
  return subtract_bytes(memory.peak_bytes(), memory.allocated[memory.lowest]);
}

std::string device_title(const Source& source, const DeviceMemory& memory) {
  const MemoryDevice& device = source.trace.memory_devices[memory.device];
  std::string title = paint(memory_device_title(source.trace, memory.device), Colour::bold);
  for (const DeviceInfo& info : source.environment.devices) {
    if (!device.is_cpu() && info.id == device.index && !info.name.empty()) title += "  " + printable(info.name);
  }
  return wrap(title, line_columns(), 0, 2);
}

std::string signed_bytes(std::int64_t bytes) {
  return (bytes > 0 ? "+" : "") + format_bytes(bytes);
}

std::string peak_remark(const Source& source, const DeviceMemory& memory) {
  const std::int64_t time_ns = source.trace.memory.time_ns[memory.events[memory.peak]];
  const std::uint32_t step = step_at(source.trace, time_ns);
  const std::string time = time_since_start(source, time_ns);
  if (step == kNone) return fmt::format(fmt::runtime(tr("at {time}")), fmt::arg("time", time));
  return fmt::format(fmt::runtime(tr("at {time}, in step {number}")), fmt::arg("time", time),
                     fmt::arg("number", source.trace.steps[step].number));
}

std::string reserved_remark(const Source& source, const DeviceMemory& memory) {
  const std::int64_t reserved = source.trace.memory.total_reserved[memory.events[memory.peak]];
  if (reserved == kUnknown || reserved <= 0 || !memory.max_allocated_bytes) return {};
  const double share = static_cast<double>(memory.peak_bytes()) / static_cast<double>(reserved);
  return fmt::format(fmt::runtime(tr("{share} of it allocated at the peak")), fmt::arg("share", format_share(share)));
}

// What makes the figures less than they seem.
std::string caveats(const DeviceMemory& memory) {
  std::vector<std::string> lines;
  const auto counted = [&](std::string_view both, std::int64_t count) {
    if (count > 0) lines.push_back(count_of(count, both));
  };
  if (memory.kind == CurveKind::relative) {
    lines.emplace_back(
        tr("Relative to the start of the recording: the profiler wrote no totals, so what was "
           "allocated before is not in these figures."));
  }
  if (memory.kind == CurveKind::partly_written) {
    counted(NN_("The profiler wrote no total with {count} event; its total is worked out from its neighbours.",
                "The profiler wrote no total with {count} events; theirs is worked out from their neighbours."),
            memory.events_without_total);
  }
  if (memory.begin_bytes > memory.peak_bytes()) {
    lines.push_back(fmt::format(fmt::runtime(tr("Before the first event the level was higher: {bytes}.")),
                                fmt::arg("bytes", format_bytes(memory.begin_bytes))));
  }
  const PairCounts& pairs = memory.pairs;
  counted(N_("Frees of memory that was allocated before the recording: {count}."), pairs.frees_without_alloc);
  counted(N_("Frees of addresses that had been freed already: {count}."), pairs.repeated_frees);
  counted(N_("Allocations of addresses that were still live (a free is missing): {count}."), pairs.allocs_over_live);
  counted(N_("Frees of another size than was allocated: {count}."), pairs.size_mismatches);
  if (pairs.with_address > 0) counted(N_("Events without an address: {count}."), pairs.without_address);
  std::string text;
  for (const std::string& line : lines) text += wrap(line, terminal().columns, 2);
  return text;
}

std::string summary(const Source& source, const DeviceMemory& memory) {
  FactLines facts(Align::right);
  facts.add(tr("Peak"), format_bytes(memory.peak_bytes()), peak_remark(source, memory));
  if (memory.max_reserved_bytes && *memory.max_reserved_bytes > 0) {
    facts.add(tr("Reserved"), format_bytes(*memory.max_reserved_bytes), reserved_remark(source, memory));
  }
  facts.add(tr("At the start"), format_bytes(memory.begin_bytes));
  facts.add(tr("At the end"), format_bytes(memory.end_bytes),
            fmt::format(fmt::runtime(tr("{change} against the start")),
                        fmt::arg("change", signed_bytes(subtract_bytes(memory.end_bytes, memory.begin_bytes)))));
  facts.add(tr("Allocated"), format_bytes(memory.alloc_bytes),
            count_of(memory.allocs, NN_("in {count} allocation", "in {count} allocations")));
  facts.add(tr("Freed"), format_bytes(memory.free_bytes),
            count_of(memory.frees, NN_("in {count} free", "in {count} frees")));
  return facts.text();
}

double as_double(std::int64_t bytes) {
  return static_cast<double>(bytes);
}

std::string format_level(double bytes) {
  constexpr double kMost = 9e18;
  return format_bytes(static_cast<std::int64_t>(std::clamp(bytes, -kMost, kMost)));
}

// Where the plot's time axis begins and ends: the whole recording, unless the events fill too little of it to be seen.
struct Window {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

Window window_of(const Source& source, const DeviceMemory& memory) {
  const MemoryEvents& all = source.trace.memory;
  Window window{all.time_ns[memory.events[0]], all.time_ns[memory.events.back()]};
  const std::int64_t most = std::max<std::int64_t>(subtract_bytes(window.end_ns, window.begin_ns), 1'000) * 4LL;
  const std::int64_t start_ns = source.start_ns.value_or(window.begin_ns);
  const std::int64_t end_ns = source.end_ns.value_or(window.end_ns);
  if (start_ns < window.begin_ns && subtract_bytes(window.begin_ns, start_ns) < most) window.begin_ns = start_ns;
  if (end_ns > window.end_ns && subtract_bytes(end_ns, window.end_ns) < most) window.end_ns = end_ns;
  return window;
}

std::vector<CurveLine> curve_lines(const Source& source, const DeviceMemory& memory, const Window& window) {
  const MemoryEvents& all = source.trace.memory;
  std::vector<CurveLine> lines(1);
  lines[0].label = tr("allocated");
  lines[0].points.reserve(memory.events.size() + 2);
  CurveLine reserved{tr("reserved"), {}};
  bool reserved_moves = false;
  if (window.begin_ns < all.time_ns[memory.events[0]]) {
    lines[0].points.emplace_back(window.begin_ns, as_double(memory.begin_bytes));
  }
  for (std::size_t i = 0; i < memory.events.size(); ++i) {
    const std::uint32_t event = memory.events[i];
    lines[0].points.emplace_back(all.time_ns[event], as_double(memory.allocated[i]));
    if (all.total_reserved[event] == kUnknown) continue;
    const double total = as_double(all.total_reserved[event]);
    reserved_moves = reserved_moves || (!reserved.points.empty() && reserved.points.front().second != total);
    reserved.points.emplace_back(all.time_ns[event], total);
  }
  if (window.end_ns > lines[0].points.back().first) {
    lines[0].points.emplace_back(window.end_ns, as_double(memory.end_bytes));
  }
  // A pool that does not change is a line of the summary; drawn, it would squeeze the curve.
  if (reserved_moves) lines.push_back(std::move(reserved));
  return lines;
}

std::string curve_text(const Source& source, const DeviceMemory& memory) {
  const Window window = window_of(source, memory);
  const std::vector<CurveLine> lines = curve_lines(source, memory, window);
  std::vector<CurveMark> marks;
  marks.push_back(
      {source.trace.memory.time_ns[memory.events[memory.peak]],
       fmt::format(fmt::runtime(tr("peak {bytes}")), fmt::arg("bytes", format_bytes(memory.peak_bytes())))});
  constexpr std::size_t kColumnsAStep = 12;
  if (source.trace.steps.size() <= terminal().columns / kColumnsAStep) {
    for (const Step& step : source.trace.steps) {
      if (step.begin_ns < window.begin_ns || step.begin_ns > window.end_ns) continue;
      marks.push_back({step.begin_ns, fmt::format("#{}", step.number)});
    }
  }
  CurveOptions options;
  options.width = terminal().columns;
  options.ascii = !terminal().utf8;
  // From zero a curve that moves by a few percent would be a flat line.
  options.from_zero = lines.size() > 1 || range_of(memory) >= memory.peak_bytes() / 8;
  options.format_value = format_level;
  options.format_time = format_duration;
  std::string text = "\n" + plot(lines, marks, options);
  if (const std::int64_t start_ns = source.start_ns.value_or(window.begin_ns); start_ns < window.begin_ns) {
    text += wrap(fmt::format(fmt::runtime(tr("The plot begins {time} after the start of the recording.")),
                             fmt::arg("time", time_since_start(source, window.begin_ns))),
                 line_columns(), 2);
  }
  return text;
}

std::string steps_text(const DeviceMemory& memory) {
  if (memory.steps.empty()) return {};
  TextTable table;
  struct Title {
    const char* text;
    int drop;  // where the terminal is narrow
  };
  for (const Title& title :
       {Title{N_("Step"), 0}, Title{N_("At begin"), 3}, Title{N_("At end"), 2}, Title{N_("Kept"), 0},
        Title{N_("Peak"), 1}, Title{N_("Allocated"), 5}, Title{N_("Freed"), 4}}) {
    table.columns.push_back({tr(title.text), Align::right, Shrink::no, title.drop});
  }
  const std::size_t count = memory.steps.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (count > kStepRows && i == kStepRows / 2) {
      table.rows.push_back({terminal().utf8 ? "…" : "..."});
      i = count - kStepRows / 2;
    }
    const StepMemory& step = memory.steps[i];
    table.rows.push_back({std::to_string(step.number), format_bytes(step.begin_bytes), format_bytes(step.end_bytes),
                          signed_bytes(step.kept_bytes), format_bytes(step.peak_bytes), format_bytes(step.alloc_bytes),
                          format_bytes(step.free_bytes)});
  }
  return "\n  " + paint(tr("Step by step"), Colour::bold) + "\n" + render(table, table_columns(), 2);
}

std::string device_text(const Source& source, const SourceMemory& facts, const DeviceMemory& memory,
                        const MemoryOptions& options, bool in_words) {
  std::string text = "\n" + device_title(source, memory);
  text += summary(source, memory);
  text += caveats(memory);
  if (in_words) return text;
  text += curve_text(source, memory);
  text += "\n" + live_text(source, facts, memory, options);
  text += steps_text(memory);
  return text;
}

std::string source_header(const Source& source, const SourceMemory& facts) {
  std::int64_t events = 0;
  for (const DeviceMemory& memory : facts.devices) events += static_cast<std::int64_t>(memory.events.size());
  std::string text = paint(shown_path(source.path), Colour::bold) + "  " +
                     count_of(events, NN_("{count} memory event", "{count} memory events"));
  if (source.start_ns && source.end_ns) {
    text += fmt::format(fmt::runtime(tr(" in a recording of {time}")),
                        fmt::arg("time", time_since_start(source, *source.end_ns)));
  }
  return wrap(text, line_columns(), 0, 2);
}

// Why there is nothing to show.
std::string no_memory_text(const Source& source) {
  if (const std::string unusable = unusable_memory_text(source); !unusable.empty()) {
    return wrap(shown_path(source.path) + ": " + unusable, terminal().columns);
  }
  return wrap(fmt::format(fmt::runtime(tr("{path} has no memory events; record it with profile_memory=True "
                                          "(torch.profiler.profile) to see where the memory goes.")),
                          fmt::arg("path", shown_path(source.path))),
              terminal().columns);
}

std::string trace_text(const Source& source, const MemoryOptions& options) {
  const SourceMemory facts = measure_memory(source, options.device);
  if (source.trace.memory.size() == 0) return no_memory_text(source);
  std::string text = source_header(source, facts);
  if (facts.devices.empty()) {
    std::string names;
    for (const MemoryDevice& device : source.trace.memory_devices) names += (names.empty() ? "" : ", ") + device.name();
    return text + wrap(fmt::format(fmt::runtime(tr("No memory events on the chosen device; there are some on: "
                                                   "{names}.")),
                                   fmt::arg("names", names)),
                       line_columns());
  }
  const bool has_larger = std::any_of(facts.devices.begin(), facts.devices.end(),
                                      [](const DeviceMemory& memory) { return range_of(memory) >= kFlatBytes; });
  for (const DeviceMemory& memory : facts.devices) {
    text += device_text(source, facts, memory, options, has_larger && range_of(memory) < kFlatBytes);
  }
  return text;
}

std::string source_text(const Source& source, const Case& input, const MemoryOptions& options) {
  switch (kind_of(source)) {
    case SourceKind::snapshot:
      return snapshot_text(source, input, options);
    case SourceKind::log:
      return log_text(source, input, options);
    case SourceKind::timeline:
      return timeline_text(source);
    case SourceKind::trace:
      break;
  }
  return trace_text(source, options);
}

}  // namespace

std::string memory_text(const Case& input, const MemoryOptions& options) {
  const SnapshotOrder snapshots = order_snapshots(input);
  std::vector<const Source*> sources = snapshots.sources;
  for (const Source& source : input.sources) {
    if (kind_of(source) != SourceKind::snapshot) sources.push_back(&source);
  }
  std::string text = growth_text(snapshots, options);
  for (const Source* source : sources) {
    if (!text.empty()) text += "\n\n";
    text += source_text(*source, input, options);
  }
  return text;
}

}  // namespace vramscope
