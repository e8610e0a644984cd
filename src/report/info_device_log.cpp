#include "report/info_device_log.h"

#include <algorithm>

#include "analysis/memory_sums.h"
#include "report/phrases.h"
#include "text/date.h"
#include "text/table.h"
#include "text/terminal.h"
#include "text/utf8.h"

namespace vramscope {

namespace {

// Of one metric of one device over the moments that tell it.
struct Range {
  std::optional<std::int64_t> least, most;
  std::int64_t moments = 0;  // that tell a known value
};

Range range_of(const DeviceLog& log, const LogDevice& device, Metric metric) {
  Range range;
  for (const LogSeries& series : device.series) {
    if (series.metric != metric) continue;
    for (std::size_t run = 0; run < series.moment.size(); ++run) {
      if (series.state[run] != ValueState::known) continue;
      const std::uint32_t end = run + 1 < series.moment.size() ? series.moment[run + 1] : log.moments;
      range.moments += end - series.moment[run];
      range.least = std::min(range.least.value_or(series.value[run]), series.value[run]);
      range.most = std::max(range.most.value_or(series.value[run]), series.value[run]);
    }
  }
  return range;
}

std::string text_of(const DeviceLog& log, const LogDevice& device, Metric metric) {
  for (const LogSeries& series : device.series) {
    if (series.metric != metric) continue;
    for (std::size_t run = series.moment.size(); run-- > 0;) {
      if (series.state[run] == ValueState::known) return log.texts[static_cast<std::size_t>(series.value[run])];
    }
  }
  return {};
}

std::string device_name(const DeviceLog& log, std::size_t place) {
  const LogDevice& device = log.devices[place];
  if (!device.parent) return fmt::format("{}", shown_index(log, place));
  return fmt::format("{}/{}", shown_index(log, *device.parent), shown_index(log, place));
}

std::string range_text(const Range& range, std::string (*format)(std::int64_t)) {
  if (!range.least) return tr("N/A");
  if (*range.least == *range.most) return format(*range.least);
  return filled(tr("{least} to {most}"), fmt::arg("least", format(*range.least)),
                fmt::arg("most", format(*range.most)));
}

std::string percent_text(std::int64_t percent) {
  return fmt::format("{} %", percent);
}

}  // namespace

std::string log_clock_text(const DeviceLog& log) {
  switch (log.clock) {
    case LogClock::none:
      return tr("none in the log: moments are numbers of samples");
    case LogClock::local:
      return tr("the machine's own, its time zone not told; shown as UTC");
    case LogClock::zoned:
      return tr("with its time zone");
    case LogClock::time_of_day:
      return tr("times of day without a date");
  }
  return {};
}

const char* log_clock_word(LogClock clock) {
  switch (clock) {
    case LogClock::none:
      return "none";
    case LogClock::local:
      return "local";
    case LogClock::zoned:
      return "zoned";
    case LogClock::time_of_day:
      return "time_of_day";
  }
  return "none";
}

std::string log_moments_text(const DeviceLog& log) {
  std::string text = counted(NN_("{count} moment", "{count} moments"), std::int64_t{log.moments});
  if (!log.time_ns.empty()) {
    text += filled(tr(" over {time}"),
                   fmt::arg("time", format_duration(subtract_bytes(log.time_ns.back(), log.time_ns[0]))));
  }
  if (!log.time_ns.empty() && log.clock != LogClock::time_of_day) {
    text += filled(tr(", until {date}"), fmt::arg("date", format_utc(log.time_ns.back())));
  }
  return text;
}

void add_device_log_facts(FactLines& facts, const Source& source) {
  const DeviceLog& log = *source.device_log;
  facts.add(tr("Content"),
            tr("values of GPUs that another tool printed; `vramscope status --from FILE` judges them, `vramscope "
               "watch --replay FILE` tells what happened"));
  if (!log.driver_version.empty()) facts.add(tr("Driver"), printable(log.driver_version));
  if (!log.cuda_version.empty()) facts.add(tr("CUDA"), printable(log.cuda_version));
  facts.add(tr("Moments"), log_moments_text(log));
  facts.add(tr("Clock"), log_clock_text(log));
  if (log.untimed_moments > 0) facts.add(tr("Without a time"), format_count(log.untimed_moments));
  if (log.is_date_order_assumed) facts.add(tr("Dates"), tr("taken as month, day, year"));
  if (!log.tells_processes.empty() &&
      std::find(log.tells_processes.begin(), log.tells_processes.end(), 1) != log.tells_processes.end()) {
    facts.add(tr("Processes"), format_count(static_cast<std::int64_t>(log.processes.size())));
  }
  facts.add(tr("Fields read"), format_count(static_cast<std::int64_t>(source.events_by_category.size())));
  if (log.unknown_fields.empty()) return;
  constexpr std::size_t kShown = 8;
  std::string names;
  for (std::size_t i = 0; i < std::min(kShown, log.unknown_fields.size()); ++i) {
    names += (names.empty() ? "" : ", ") + printable(log.unknown_fields[i].first);
  }
  if (log.unknown_fields.size() > kShown) {
    names += filled(tr(" and {count} more"), fmt::arg("count", log.unknown_fields.size() - kShown));
  }
  facts.add(tr("Fields not used"), names);
}

std::string device_log_table(const Source& source) {
  const DeviceLog& log = *source.device_log;
  TextTable table;
  table.columns = {{tr("GPU"), Align::left, Shrink::no},          {tr("Name"), Align::left, Shrink::end, 0, 16},
                   {tr("Memory"), Align::right, Shrink::no, 3},   {tr("Memory in use"), Align::right, Shrink::no},
                   {tr("GPU busy"), Align::right, Shrink::no, 1}, {tr("Moments"), Align::right, Shrink::no, 2}};
  for (std::size_t place = 0; place < log.devices.size(); ++place) {
    const LogDevice& device = log.devices[place];
    const Range used = range_of(log, device, Metric::memory_used);
    const Range busy = range_of(log, device, Metric::utilization_gpu);
    const Range total = range_of(log, device, Metric::memory_total);
    const std::string name = text_of(log, device, Metric::name);
    table.rows.push_back({device_name(log, place), name.empty() ? std::string(tr("(no name)")) : printable(name),
                          total.most ? format_bytes(*total.most) : std::string(tr("N/A")),
                          range_text(used, format_bytes), range_text(busy, percent_text),
                          format_count(std::max(used.moments, busy.moments))});
  }
  return table.rows.empty() ? std::string() : render(table, table_columns(), 2);
}

void write_device_log_facts(JsonWriter& json, const Source& source) {
  const DeviceLog& log = *source.device_log;
  json.member("kind", "device_log").key("device_log").begin_object();
  json.key("parts").begin_array();
  for (const std::string& part : log.parts) json.value(std::string_view(part));
  json.end_array().member("clock", log_clock_word(log.clock)).member("moments", std::int64_t{log.moments});
  json.member("untimed_moments", log.untimed_moments).member("date_order_assumed", log.is_date_order_assumed);
  json.member("driver_version", std::string_view(log.driver_version));
  json.member("cuda_version", std::string_view(log.cuda_version));
  json.key("gpus").begin_array();
  for (std::size_t place = 0; place < log.devices.size(); ++place) {
    const LogDevice& device = log.devices[place];
    const Range used = range_of(log, device, Metric::memory_used);
    json.begin_object().member("index", device.index);
    json.member("parent", device.parent ? std::optional(shown_index(log, *device.parent)) : std::nullopt);
    json.member("gpu_instance", device.gpu_instance).member("compute_instance", device.compute_instance);
    json.member("name", std::string_view(text_of(log, device, Metric::name)));
    json.member("uuid", std::string_view(text_of(log, device, Metric::uuid)));
    json.member("pci_bus_id", std::string_view(text_of(log, device, Metric::pci_bus_id)));
    json.member("memory_total_bytes", range_of(log, device, Metric::memory_total).most);
    json.member("memory_used_least_bytes", used.least).member("memory_used_most_bytes", used.most);
    json.member("memory_used_moments", used.moments).end_object();
  }
  json.end_array().member("processes", static_cast<std::int64_t>(log.processes.size()));
  json.key("unknown_fields").begin_object();
  for (const auto& [name, count] : log.unknown_fields) json.member(name, count);
  json.end_object().end_object();
}

}  // namespace vramscope
