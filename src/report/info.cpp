#include "report/info.h"

#include <algorithm>

#include "analysis/device_load.h"
#include "base/saturate.h"
#include "fmt/format.h"
#include "report/json.h"
#include "text/catalogue.h"
#include "text/format.h"
#include "text/table.h"
#include "text/terminal.h"
#include "text/utf8.h"

namespace vramscope {

namespace {

constexpr std::size_t kIndent = 2;

std::string heading(std::string_view text) {
  return paint(text, Colour::bold) + "\n";
}

// "name  value" lines with the values below each other.
class Facts {
 public:
  void add(std::string name, std::string value) { rows_.push_back({std::move(name), std::move(value)}); }
  std::string text() const {
    std::size_t widest = 0;
    for (const auto& [name, value] : rows_) widest = std::max(widest, display_width(name));
    std::string out;
    for (const auto& [name, value] : rows_) {
      out += std::string(kIndent, ' ') + name + std::string(widest - display_width(name) + 2, ' ') + value + "\n";
    }
    return out;
  }

 private:
  std::vector<std::pair<std::string, std::string>> rows_;
};

std::string format_line(const Source& source) {
  std::string text = source.format;
  if (!source.version.empty()) text += ", " + source.version;
  if (source.compressed) text += std::string(", ") + tr("compressed");
  return text + ", " + fmt::format(fmt::runtime(tr("{size} of text")), fmt::arg("size", format_bytes(source.bytes)));
}

std::string processes_line(const Trace& trace) {
  std::vector<std::string> names;
  std::vector<bool> has_host(trace.tracks.size(), false);
  for (TrackId id = 0; id < trace.tracks.size(); ++id) {
    const Track& track = trace.tracks[id];
    bool is_host = false;
    for (std::uint32_t at = track.begin; at < track.end && !is_host; ++at) {
      const SpanKind kind = trace.kind(trace.spans_by_time[at]);
      is_host = is_host_range(kind) || kind == SpanKind::python_call;
    }
    if (!is_host) continue;
    std::string name(trace.strings.view(track.pid));
    const std::string_view program = trace.strings.view(track.process_name);
    if (!program.empty()) name = fmt::format("{} ({})", program, name);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + printable(name);
  return text;
}

std::string rank_line(const Environment& environment) {
  if (!environment.rank) return {};
  std::string text = environment.world_size
                         ? fmt::format(fmt::runtime(tr("{rank} of {size}")), fmt::arg("rank", *environment.rank),
                                       fmt::arg("size", *environment.world_size))
                         : fmt::format("{}", *environment.rank);
  if (!environment.backend.empty()) text += " (" + printable(environment.backend) + ")";
  return text;
}

std::string steps_line(const Trace& trace) {
  if (trace.steps.empty()) return tr("none marked (call prof.step() once a step to mark them)");
  const auto [first, last] = std::minmax_element(trace.steps.begin(), trace.steps.end(),
                                                 [](const Step& a, const Step& b) { return a.number < b.number; });
  std::int64_t sum_ns = 0;
  for (const Step& step : trace.steps)
    sum_ns += (step.end_ns - step.begin_ns) / static_cast<std::int64_t>(trace.steps.size());
  return fmt::format(fmt::runtime(tr("{count} (number {first} to {last}, {mean} each on average)")),
                     fmt::arg("count", format_count(static_cast<std::int64_t>(trace.steps.size()))),
                     fmt::arg("first", first->number), fmt::arg("last", last->number),
                     fmt::arg("mean", format_duration(sum_ns)));
}

std::string devices_table(const Source& source) {
  TextTable table;
  table.columns = {
      {tr("Device"), Align::right},  {tr("Name"), Align::left, Shrink::end}, {tr("Memory"), Align::right},
      {tr("Kernels"), Align::right}, {tr("Kernel time"), Align::right},      {tr("Copied"), Align::right},
      {tr("Busy"), Align::right},    {tr("Active span"), Align::right},      {tr("Busy share"), Align::right}};
  std::size_t idle = 0;
  for (const DeviceLoad& load : device_loads(source)) {
    const bool has_work = load.span_ns > 0 || load.kernels > 0 || load.memcpy_bytes > 0;
    if (!has_work) {
      ++idle;
      if (idle > 1 || source.environment.devices.size() > 4) continue;
    }
    std::string memory = tr("N/A");
    for (const DeviceInfo& info : source.environment.devices) {
      if (info.id == load.id && info.total_memory_bytes) memory = format_bytes(*info.total_memory_bytes);
    }
    const std::string name = load.name.empty()
                                 ? std::string(load.is_listed ? tr("(no name)") : tr("(not listed in the file)"))
                                 : printable(load.name);
    table.rows.push_back({load.id < 0 ? std::string(tr("N/A")) : fmt::format("{}", load.id), name, memory,
                          format_count(load.kernels), format_duration(load.kernel_ns), format_bytes(load.memcpy_bytes),
                          format_duration(load.busy_ns), format_duration(load.span_ns),
                          load.span_ns > 0
                              ? format_share(static_cast<double>(load.busy_ns) / static_cast<double>(load.span_ns))
                              : std::string(tr("N/A"))});
  }
  std::string text = table.rows.empty() ? std::string() : render(table, terminal().columns, kIndent);
  const std::size_t shown_idle = idle > 0 && source.environment.devices.size() <= 4 ? 1 : 0;
  if (idle > shown_idle) {
    text += std::string(kIndent, ' ') +
            fmt::format(fmt::runtime(tr("and {count} devices without recorded work")),
                        fmt::arg("count", idle - shown_idle)) +
            "\n";
  }
  return text;
}

std::string categories_table(const Source& source) {
  TextTable table;
  table.columns = {{tr("Category"), Align::left, Shrink::end}, {tr("Events"), Align::right}};
  std::vector<CategoryCount> counts = source.events_by_category;
  std::stable_sort(counts.begin(), counts.end(),
                   [](const CategoryCount& a, const CategoryCount& b) { return a.events > b.events; });
  for (const CategoryCount& count : counts) table.rows.push_back({printable(count.name), format_count(count.events)});
  return render(table, terminal().columns, kIndent);
}

std::string trouble_table(const Source& source) {
  TextTable table;
  table.columns = {{tr("Trouble"), Align::left}, {tr("Count"), Align::right}, {tr("First at byte"), Align::right}};
  for (const Trouble& trouble : source.trouble) {
    table.rows.push_back({trouble.name, format_count(trouble.count), fmt::format("{}", trouble.first_offset)});
  }
  return render(table, terminal().columns, kIndent);
}

std::string source_text(const Source& source) {
  std::string text = heading(printable(source.path));
  Facts facts;
  facts.add(tr("Format"), format_line(source));
  if (const std::string processes = processes_line(source.trace); !processes.empty())
    facts.add(tr("Process"), processes);
  if (!source.environment.host_name.empty()) facts.add(tr("Host"), printable(source.environment.host_name));
  if (const std::string rank = rank_line(source.environment); !rank.empty()) facts.add(tr("Rank"), rank);
  facts.add(tr("Events"), fmt::format(fmt::runtime(tr("{events}, and {metadata} of metadata")),
                                      fmt::arg("events", format_count(source.events)),
                                      fmt::arg("metadata", format_count(source.metadata_events))));
  facts.add(tr("Time"), source.start_ns && source.end_ns
                            ? format_duration(saturating_sub(*source.end_ns, *source.start_ns))
                            : std::string(tr("N/A")));
  facts.add(tr("Steps"), steps_line(source.trace));
  if (source.trace.memory.size() > 0) {
    facts.add(tr("Memory"),
              fmt::format(fmt::runtime(tr("{events} allocations and frees on {devices} devices")),
                          fmt::arg("events", format_count(static_cast<std::int64_t>(source.trace.memory.size()))),
                          fmt::arg("devices", source.trace.memory_devices.size())));
  } else {
    facts.add(tr("Memory"), tr("no allocations recorded (profile with profile_memory=True)"));
  }
  facts.add(tr("Trouble"), source.trouble.empty() ? tr("none: the file is whole") : tr("see below"));
  text += facts.text();
  if (const std::string devices = devices_table(source); !devices.empty()) text += "\n" + devices;
  if (!source.events_by_category.empty()) text += "\n" + categories_table(source);
  if (!source.trouble.empty()) text += "\n" + trouble_table(source);
  return text;
}

void write_devices(JsonWriter& json, const Source& source) {
  json.key("devices").begin_array();
  for (const DeviceLoad& load : device_loads(source)) {
    json.begin_object();
    if (load.id >= 0) {
      json.member("id", std::int64_t{load.id});
    } else {
      json.key("id").null();
    }
    json.member("name", load.name);
    for (const DeviceInfo& info : source.environment.devices) {
      if (info.id == load.id) json.member("total_memory_bytes", info.total_memory_bytes);
    }
    json.member("kernels", load.kernels).member("kernel_ns", load.kernel_ns).member("memcpy_bytes", load.memcpy_bytes);
    json.member("busy_ns", load.busy_ns).member("span_ns", load.span_ns).end_object();
  }
  json.end_array();
}

void write_source(JsonWriter& json, const Source& source) {
  json.begin_object().member("path", source.path).member("format", source.format).member("version", source.version);
  json.member("compressed", source.compressed).member("text_bytes", source.bytes);
  json.member("events", source.events).member("metadata_events", source.metadata_events);
  json.key("events_by_category").begin_object();
  for (const CategoryCount& count : source.events_by_category) json.member(count.name, count.events);
  json.end_object();
  json.member("start_ns", source.start_ns).member("end_ns", source.end_ns);
  json.member("steps", static_cast<std::int64_t>(source.trace.steps.size()));
  json.member("memory_events", static_cast<std::int64_t>(source.trace.memory.size()));
  json.member("rank", source.environment.rank).member("world_size", source.environment.world_size);
  if (!source.environment.backend.empty()) json.member("backend", source.environment.backend);
  write_devices(json, source);
  json.key("trouble").begin_array();
  for (const Trouble& trouble : source.trouble) {
    json.begin_object().member("name", trouble.name).member("count", trouble.count);
    json.member("first_offset", trouble.first_offset).end_object();
  }
  json.end_array().end_object();
}

}  // namespace

std::string info_text(const Case& input) {
  std::string text;
  for (const Source& source : input.sources) text += (text.empty() ? "" : "\n") + source_text(source);
  return text;
}

std::string info_json(const Case& input) {
  JsonWriter json;
  json.begin_object().key("sources").begin_array();
  for (const Source& source : input.sources) write_source(json, source);
  json.end_array().end_object();
  return json.text();
}

}  // namespace vramscope
