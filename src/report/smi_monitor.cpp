#include "report/smi_monitor.h"

#include <algorithm>
#include <ctime>
#include <optional>

#include "base/saturate.h"
#include "fmt/format.h"
#include "model/metric_smi.h"
#include "report/smi_text.h"

namespace vramscope {

const std::string_view kDeviceGroups = "pucvmet", kProcessGroups = "um";

namespace {

using M = Metric;

// What stands in a cell, from what is known of the GPU.
enum class Cell { number, watts, mebibytes, power_throttling, thermal_throttling };

struct Column {
  char group;
  std::string_view name, unit;
  Metric metric;
  Cell cell = Cell::number;
};

constexpr Column kDeviceColumns[] = {
    {'p', "pwr", "W", M::power_draw, Cell::watts},
    {'p', "gtemp", "C", M::temperature_gpu},
    {'p', "mtemp", "C", M::temperature_memory},
    {'u', "sm", "%", M::utilization_gpu},
    {'u', "mem", "%", M::utilization_memory},
    {'u', "enc", "%", M::utilization_encoder},
    {'u', "dec", "%", M::utilization_decoder},
    {'u', "jpg", "%", M::utilization_jpeg},
    {'u', "ofa", "%", M::utilization_ofa},
    {'c', "mclk", "MHz", M::clocks_current_memory},
    {'c', "pclk", "MHz", M::clocks_current_sm},
    {'v', "pviol", "%", M::clocks_event_reasons_counters_sw_power_cap, Cell::power_throttling},
    {'v', "tviol", "bool", M::clocks_event_reasons_counters_hw_thermal_slowdown, Cell::thermal_throttling},
    {'m', "fb", "MB", M::memory_used, Cell::mebibytes},
    {'m', "bar1", "MB", M::bar1_used, Cell::mebibytes},
    {'m', "ccpm", "MB", M::protected_memory_used, Cell::mebibytes},
    {'e', "sbecc", "errs", M::ecc_errors_corrected_volatile_total},
    {'e', "dbecc", "errs", M::ecc_errors_uncorrected_volatile_total},
    {'e', "pci", "errs", M::pcie_replays},
    {'t', "rxpci", "MB/s", M::pcie_throughput_rx, Cell::mebibytes},
    {'t', "txpci", "MB/s", M::pcie_throughput_tx, Cell::mebibytes},
};

struct ProcessColumn {
  char group;
  std::string_view name, unit;
};
constexpr ProcessColumn kProcessColumns[] = {{'u', "sm", "%"},  {'u', "mem", "%"},  {'u', "enc", "%"},
                                             {'u', "dec", "%"}, {'u', "jpg", "%"},  {'u', "ofa", "%"},
                                             {'m', "fb", "MB"}, {'m', "ccpm", "MB"}};

// Calls for each column of the table, in its order.
template <typename Columns, typename Use>
void for_each(const Columns& columns, const SmiTable& table, Use use) {
  for (const char group : table.groups) {
    for (const auto& column : columns) {
      if (column.group == group) use(column);
    }
  }
}

void append_cell(std::string& out, const SmiTable& table, std::string_view text, int width) {
  if (table.is_csv) {
    out += ", ";
    out += text;
  } else {
    fmt::format_to(std::back_inserter(out), "{:>{}}", text, width);
  }
}

constexpr int kWidth = 7, kPidWidth = 12, kNameWidth = 15;

// "#Date        Time         gpu", "# gpu"; in CSV "#Date, Time, gpu".
void begin_header(std::string& out, const SmiTable& table, std::string_view date, std::string_view time,
                  std::string_view index) {
  out += '#';
  const bool has_moment = table.with_date || table.with_time;
  if (table.is_csv) {
    if (table.with_date) (out += date) += ", ";
    if (table.with_time) (out += time) += ", ";
    out += index;
    return;
  }
  if (table.with_date) fmt::format_to(std::back_inserter(out), "{:<12}", date);
  if (table.with_time) fmt::format_to(std::back_inserter(out), "{:<13}", time);
  fmt::format_to(std::back_inserter(out), "{:>{}}", index, has_moment ? 3 : 4);
}

void begin_row(std::string& out, const SmiTable& table, int index, std::int64_t unix_ns) {
  const auto seconds = static_cast<std::time_t>(unix_ns / 1'000'000'000);
  std::tm local{};
  localtime_r(&seconds, &local);
  char date[32] = {};
  char time[32] = {};
  std::strftime(date, sizeof date, "%Y%m%d", &local);
  std::strftime(time, sizeof time, "%H:%M:%S", &local);
  if (table.is_csv) {
    if (table.with_date) (out += date) += ", ";
    if (table.with_time) (out += time) += ", ";
    out += std::to_string(index);
    return;
  }
  out += ' ';
  if (table.with_date) fmt::format_to(std::back_inserter(out), "{:<12}", date);
  if (table.with_time) fmt::format_to(std::back_inserter(out), "{:<13}", time);
  fmt::format_to(std::back_inserter(out), "{:>{}}", index, table.with_date || table.with_time ? 3 : 4);
}

void end_line(std::string& out, const SmiTable& table) {
  out += table.is_csv ? "\n" : " \n";
}

std::string text_of(std::optional<std::int64_t> number) {
  return number ? std::to_string(*number) : "-";
}

std::string cell_of(const Column& column, const DeviceSample& gpu, const Throttled& throttled) {
  constexpr std::int64_t kMilliwatts = 1000;
  std::optional<std::int64_t> number = gpu.number(column.metric);
  switch (column.cell) {
    case Cell::number:
      break;
    case Cell::watts:
      if (number) number = *number / kMilliwatts;
      break;
    case Cell::mebibytes:
      if (number) number = smi_mebibytes(*number);
      break;
    case Cell::power_throttling:
      number = throttled.power_percent;
      break;
    case Cell::thermal_throttling:
      number.reset();
      if (throttled.is_thermal) number = *throttled.is_thermal ? 1 : 0;
      break;
  }
  return text_of(number);
}

std::optional<std::int64_t> share_of(const DeviceProcess& process, std::string_view column) {
  if (column == "sm") return process.sm_percent;
  if (column == "mem") return process.memory_percent;
  if (column == "enc") return process.encoder_percent;
  if (column == "dec") return process.decoder_percent;
  if (column == "jpg") return process.jpeg_percent;
  return process.ofa_percent;
}

std::string process_cell(const ProcessColumn& column, const DeviceSample& gpu, const DeviceProcess& process) {
  if (column.group == 'u') {
    const auto share = share_of(process, column.name);
    return share && *share > 0 ? std::to_string(*share) : "-";  // nvidia-smi shows no zeros here
  }
  if (column.name == "fb") {
    return process.used_bytes ? std::to_string(smi_mebibytes(*process.used_bytes)) : "-";
  }
  // NVML does not tell it of a process; where the GPU has no protected memory it is none.
  return gpu.number(M::protected_memory_total) == 0 ? "0" : "-";
}

}  // namespace

std::string device_table_header(const SmiTable& table) {
  std::string out;
  if (table.with_names) {
    begin_header(out, table, "Date", "Time", "gpu");
    for_each(kDeviceColumns, table, [&](const Column& column) { append_cell(out, table, column.name, kWidth); });
    end_line(out, table);
  }
  if (table.with_units) {
    begin_header(out, table, "YYYYMMDD", "HH:MM:SS", "Idx");
    for_each(kDeviceColumns, table, [&](const Column& column) { append_cell(out, table, column.unit, kWidth); });
    end_line(out, table);
  }
  return out;
}

std::string process_table_header(const SmiTable& table) {
  std::string out;
  const auto line = [&](std::string_view date, std::string_view time, std::string_view index, std::string_view pid,
                        std::string_view type, std::string_view name, bool is_units) {
    begin_header(out, table, date, time, index);
    append_cell(out, table, pid, kPidWidth);
    append_cell(out, table, type, kWidth);
    for_each(kProcessColumns, table, [&](const ProcessColumn& column) {
      append_cell(out, table, is_units ? column.unit : column.name, kWidth);
    });
    append_cell(out, table, name, static_cast<int>(name.size()) + 4);
    end_line(out, table);
  };
  if (table.with_names) line("Date", "Time", "gpu", "pid", "type", "command", false);
  if (table.with_units) line("YYYYMMDD", "HH:MM:SS", "Idx", "#", "C/G", "name", true);
  return out;
}

Wanted device_table_wanted(const SmiTable& table) {
  Wanted wanted;
  for_each(kDeviceColumns, table, [&](const Column& column) { wanted.metrics.set(index_of(column.metric)); });
  if (table.groups.find('v') != table.groups.npos) {
    wanted.metrics.set(index_of(M::clocks_event_reasons_counters_sw_thermal_slowdown));
  }
  return wanted;
}

Wanted process_table_wanted(const SmiTable& table) {
  Wanted wanted;
  wanted.processes = true;
  wanted.process_utilisation = table.groups.find('u') != table.groups.npos;
  if (table.groups.find('m') != table.groups.npos) wanted.metrics.set(index_of(M::protected_memory_total));
  return wanted;
}

ThrottleCounters throttle_counters(const DeviceSample& gpu) {
  ThrottleCounters counters;
  counters.power_us = gpu.number(M::clocks_event_reasons_counters_sw_power_cap);
  const auto software = gpu.number(M::clocks_event_reasons_counters_sw_thermal_slowdown);
  const auto hardware = gpu.number(M::clocks_event_reasons_counters_hw_thermal_slowdown);
  if (software || hardware) counters.thermal_us = saturating_add(software.value_or(0), hardware.value_or(0));
  return counters;
}

Throttled throttled_between(const ThrottleCounters& before, const ThrottleCounters& now, std::int64_t elapsed_ns) {
  Throttled throttled;
  const double elapsed_us = static_cast<double>(elapsed_ns) / 1000;
  if (before.power_us && now.power_us && elapsed_us > 0) {
    const double share = static_cast<double>(saturating_sub(*now.power_us, *before.power_us)) * 100 / elapsed_us;
    throttled.power_percent = static_cast<std::int64_t>(std::clamp(share, 0.0, 100.0));
  }
  if (before.thermal_us && now.thermal_us) throttled.is_thermal = *now.thermal_us > *before.thermal_us;
  return throttled;
}

void append_device_row(std::string& out, const SmiTable& table, const DeviceSample& gpu, const Throttled& throttled,
                       std::int64_t unix_ns) {
  begin_row(out, table, gpu.index, unix_ns);
  for_each(kDeviceColumns, table,
           [&](const Column& column) { append_cell(out, table, cell_of(column, gpu, throttled), kWidth); });
  end_line(out, table);
}

void append_process_row(std::string& out, const SmiTable& table, const DeviceSample& gpu, const DeviceProcess* process,
                        std::string_view name, std::int64_t unix_ns) {
  // Cells stand a little to the left of the names above them.
  begin_row(out, table, gpu.index, unix_ns);
  append_cell(out, table, process != nullptr ? std::to_string(process->pid) : "-", kPidWidth - 1);
  append_cell(out, table, process != nullptr ? smi_process_type(*process) : "-", kWidth - 1);
  for_each(kProcessColumns, table, [&](const ProcessColumn& column) {
    append_cell(out, table, process != nullptr ? process_cell(column, gpu, *process) : "-", kWidth);
  });
  const std::size_t path = name.rfind('/');
  if (path != name.npos) name.remove_prefix(path + 1);
  name = name.substr(0, kNameWidth);
  if (table.is_csv) {
    ((out += ", ") += name) += '\n';
  } else {
    fmt::format_to(std::back_inserter(out), "    {:<{}}\n", name, kNameWidth);
  }
}

}  // namespace vramscope
