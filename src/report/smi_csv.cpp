#include "report/smi_csv.h"

#include <ctime>

#include "fmt/format.h"
#include "model/metric_smi.h"

namespace vramscope {

namespace {

constexpr std::string_view kMissing = "[N/A]";

void append_value(std::string& out, std::optional<std::int64_t> value, std::string_view unit, bool with_unit) {
  if (!value) {
    out += kMissing;
    return;
  }
  out += std::to_string(*value);
  if (!with_unit || unit.empty()) return;
  out += ' ';
  out += unit;
}

std::optional<std::int64_t> mebibytes(std::optional<std::int64_t> bytes) {
  if (!bytes) return std::nullopt;
  return smi_mebibytes(*bytes);
}

void append_gpu_cell(std::string& out, const SmiRows& rows, const DeviceSample& gpu, Metric metric,
                     std::string_view timestamp) {
  if (metric == Metric::timestamp) {
    out += timestamp;
  } else {
    append_smi_cell(out, gpu.values, metric, rows.with_units);
  }
}

// A row whose cells about the process `append_own` writes.
template <typename AppendOwn>
void append_row(std::string& out, const SmiRows& rows, const DeviceSample& gpu, std::string_view timestamp,
                AppendOwn append_own) {
  bool is_first = true;
  for (const SmiColumn& column : rows.columns) {
    if (!is_first) out += ", ";
    is_first = false;
    if (column.value == SmiValue::of_gpu) {
      append_gpu_cell(out, rows, gpu, column.metric, timestamp);
    } else {
      append_own(column.value);
    }
  }
  out += '\n';
}

}  // namespace

std::string smi_timestamp(std::int64_t unix_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000, kMillisecond = 1'000'000;
  const auto seconds = static_cast<std::time_t>(unix_ns / kSecond);
  std::tm local{};
  localtime_r(&seconds, &local);
  return fmt::format("{:04}/{:02}/{:02} {:02}:{:02}:{:02}.{:03}", local.tm_year + 1900, local.tm_mon + 1, local.tm_mday,
                     local.tm_hour, local.tm_min, local.tm_sec, unix_ns % kSecond / kMillisecond);
}

void append_smi_gpu_row(std::string& out, const SmiRows& rows, const DeviceSample& gpu, std::string_view timestamp) {
  append_row(out, rows, gpu, timestamp, [](SmiValue) {});
}

void append_smi_compute_rows(std::string& out, const SmiRows& rows, const DeviceSample& gpu, std::string_view timestamp,
                             const SmiProcessName& name) {
  for (const DeviceProcess& process : gpu.processes) {
    if (process.type == ProcessType::graphics) continue;
    append_row(out, rows, gpu, timestamp, [&](SmiValue value) {
      switch (value) {
        case SmiValue::pid:
          out += std::to_string(process.pid);
          break;
        case SmiValue::process_name:
          out += name(process);
          break;
        case SmiValue::used_memory:
          append_value(out, mebibytes(process.used_bytes), "MiB", rows.with_units);
          break;
        default:
          out += kMissing;
      }
    });
  }
}

void append_smi_accounted_rows(std::string& out, const SmiRows& rows, const DeviceSample& gpu,
                               std::string_view timestamp, const std::vector<AccountedProcess>& processes) {
  for (const AccountedProcess& process : processes) {
    append_row(out, rows, gpu, timestamp, [&](SmiValue value) {
      switch (value) {
        case SmiValue::pid:
          out += std::to_string(process.pid);
          break;
        case SmiValue::gpu_utilization:
          append_value(out, process.gpu_percent, "%", rows.with_units);
          break;
        case SmiValue::memory_utilization:
          append_value(out, process.memory_percent, "%", rows.with_units);
          break;
        case SmiValue::max_memory:
          append_value(out, mebibytes(process.max_memory_bytes), "MiB", rows.with_units);
          break;
        case SmiValue::time:
          append_value(out, process.time_ms, "ms", rows.with_units);
          break;
        default:
          out += kMissing;
      }
    });
  }
}

// NVML's codes (nvmlReturn_t) in the words of its nvmlErrorString.
std::string_view smi_code_words(int code) {
  switch (code) {
    case 1:
      return "Uninitialized";
    case 2:
      return "Invalid Argument";
    case 3:
      return "Not Supported";
    case 4:
      return "Insufficient Permissions";
    case 6:
      return "Not Found";
    case 7:
      return "Insufficient Size";
    case 8:
      return "Insufficient External Power";
    case 9:
      return "Driver Not Loaded";
    case 10:
      return "Timeout";
    case 11:
      return "Interrupt Request Issue";
    case 12:
      return "NVML Shared Library Not Found";
    case 13:
      return "Function Not Found";
    case 14:
      return "Corrupted infoROM";
    case 15:
      return "GPU is lost";
    case 16:
      return "GPU requires reset";
    case 17:
      return "GPU access blocked by the operating system";
    case 18:
      return "Driver/library version mismatch";
    default:
      return "Unknown Error";
  }
}

}  // namespace vramscope
