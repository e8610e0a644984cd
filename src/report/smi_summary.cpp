#include "report/smi_summary.h"

#include <charconv>

#include "fmt/format.h"
#include "model/metric_smi.h"
#include "report/smi_text.h"
#include "text/utf8.h"
#include "text/width.h"

namespace vramscope {

namespace {

using M = Metric;

constexpr std::string_view kMissing = "N/A", kFailed = "ERR!";
constexpr std::size_t kWidth = 89, kNameWidth = 27, kProcessWidth = 32;
constexpr std::string_view kThreeCells =
    "+-----------------------------------------+------------------------+----------------------+\n";
constexpr std::string_view kFiveCells =
    "+------------------+----------------------------------+-----------+-----------------------+\n";

// "N/A", or "ERR!" where the driver could not tell.
std::string_view missing(const MetricValue& value) {
  return value.state == ValueState::failed || value.state == ValueState::lost ? kFailed : kMissing;
}

// At least `columns` wide on the screen.
std::string padded(std::string_view text, std::size_t columns) {
  std::string out(text);
  const std::size_t width = display_width(text);
  if (width < columns) out.append(columns - width, ' ');
  return out;
}

// The beginning of a text, or its end, of at most so many columns, cut between characters.
std::string_view beginning(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (std::size_t width = 0; at < text.size();) {
    const CodePoint point = decode(text, at);
    width += code_point_width(point.value);
    if (width > columns) break;
    at += point.bytes;
  }
  return text.substr(0, at);
}

std::string_view ending(std::string_view text, std::size_t columns) {
  std::size_t width = display_width(text);
  std::size_t at = 0;
  while (at < text.size() && width > columns) {
    const CodePoint point = decode(text, at);
    width -= code_point_width(point.value);
    at += point.bytes;
  }
  return text.substr(at);
}

constexpr std::string_view kCut = "...";

std::string cut_at_end(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  return std::string(beginning(text, columns - kCut.size())) + std::string(kCut);
}

std::string cut_at_start(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  return std::string(kCut) + std::string(ending(text, columns - kCut.size()));
}

std::string text_of(const MetricValues& values, Metric metric) {
  if (!values.is_known(metric)) return std::string(missing(values[metric]));
  return printable(values.text(metric));
}

std::string on_off(const MetricValues& values, Metric metric) {
  if (!values.is_known(metric)) return std::string(missing(values[metric]));
  return values[metric].number != 0 ? "On" : "Off";
}

// A number with its unit; the words of a missing one stand one place to the left of where the number ends.
std::string watts(const MetricValues& values, Metric metric) {
  constexpr std::int64_t kMilliwatts = 1000;
  if (values.is_known(metric)) return fmt::format("{}W", values[metric].number / kMilliwatts);
  const std::string_view words = missing(values[metric]);
  return words == kMissing ? "N/A " : std::string(words);
}

// As nvidia-smi of this driver writes it: since 610 it tells the kernel module's version and that of CUDA's library.
void append_head(std::string& out, const SmiMachineFacts& machine) {
  constexpr int kFirstNewNames = 610;
  int major = 0;
  std::from_chars(machine.driver.data(), machine.driver.data() + machine.driver.size(), major);
  const std::string driver = printable(machine.driver);
  const std::string cuda = printable(machine.cuda);
  const std::string rest = major >= kFirstNewNames
                               ? fmt::format("KMD Version: {:<14}CUDA UMD Version: {:<9}", driver, cuda)
                               : fmt::format("Driver Version: {:<15}CUDA Version: {:<9}", driver, cuda);
  fmt::format_to(std::back_inserter(out), "{}       \n", smi_moment(machine.unix_ns));
  fmt::format_to(std::back_inserter(out), "+{:-<{}}+\n", "", kWidth);
  fmt::format_to(std::back_inserter(out), "| NVIDIA-SMI {:<23}{}|\n", driver, rest);
  out += kThreeCells;
  out += "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n";
  out += "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n";
  out += "|                                         |                        |               MIG M. |\n";
  out += "|=========================================+========================+======================|\n";
}

std::string errors_of(const MetricValues& values) {
  const auto ecc = values.number(M::ecc_mode_current);
  if (values.number(M::mig_mode_current) == 1)
    return on_off(values, M::ecc_mode_current);  // each MIG device has its own
  if (ecc == 0) return "Off";
  const MetricValue& errors = values[M::ecc_errors_uncorrected_volatile_total];
  if (errors.state == ValueState::known) return std::to_string(errors.number);
  return std::string(missing(errors));
}

std::string memory_of(const MetricValues& values) {
  const auto used = values.number(M::memory_used), total = values.number(M::memory_total);
  if (!used || !total) {
    // Of a GPU that shares the machine's memory.
    const std::string_view words = missing(values[M::memory_total]);
    return fmt::format("{:^24}", words == kMissing ? "Not Supported" : words);
  }
  return fmt::format(" {:>7}MiB / {:>6}MiB ", smi_mebibytes(*used), smi_mebibytes(*total));
}

std::string compute_mode_of(const MetricValues& values) {
  constexpr std::string_view kShort[] = {"Default", "E. Thread", "Prohibited", "E. Process"};
  const auto mode = values.number(M::compute_mode);
  if (!mode) return std::string(missing(values[M::compute_mode]));
  return std::string(*mode >= 0 && *mode < 4 ? kShort[*mode] : "Unknown");
}

// With a star when it will be another one after a reset.
std::string mig_mode_of(const MetricValues& values) {
  std::string text;
  if (!values.is_known(M::mig_mode_current)) return std::string(missing(values[M::mig_mode_current]));
  append_smi_query_value(text, values, M::mig_mode_current);
  const auto pending = values.number(M::mig_mode_pending);
  if (pending && pending != values.number(M::mig_mode_current)) text += '*';
  return text;
}

void append_gpu(std::string& out, const DeviceSample& gpu) {
  const MetricValues& values = gpu.values;
  const auto with_unit = [&](Metric metric, std::string_view unit) {
    const auto number = values.number(metric);
    return number ? fmt::format("{}{}", *number, unit) : std::string(missing(values[metric]));
  };
  const std::string name = padded(cut_at_end(text_of(values, M::name), kNameWidth), kNameWidth);
  fmt::format_to(std::back_inserter(out), "| {:>3}  {}    {:<4}|   {} {:>3} | {:>20} |\n", gpu.index, name,
                 on_off(values, M::persistence_mode), padded(text_of(values, M::pci_bus_id), 16),
                 on_off(values, M::display_active), errors_of(values));
  std::string state = with_unit(M::pstate, "");
  // Of an unknown state the words stand one place further left.
  state = values.is_known(M::pstate) ? "P" + state : state + " ";
  fmt::format_to(std::back_inserter(out), "|{:>4}{:>6}{:>6}{:>16} / {:>5} |{}|{:>8}{:>13} |\n",
                 with_unit(M::fan_speed, "%"), with_unit(M::temperature_gpu, "C"), state, watts(values, M::power_draw),
                 watts(values, M::enforced_power_limit), memory_of(values), with_unit(M::utilization_gpu, "%"),
                 compute_mode_of(values));
  fmt::format_to(std::back_inserter(out), "|{:41}|{:24}|{:>21} |\n", "", "", mig_mode_of(values));
  out += kThreeCells;
}

void append_line(std::string& out, std::string_view text) {
  out += "|  ";
  out += padded(text, kWidth - 2);
  out += "|\n";
}

void append_mig(std::string& out, const DeviceSample& gpu, const DeviceSample& mig) {
  const MetricValues& values = mig.values;
  const auto number = [&](Metric metric) {
    const auto known = values.number(metric);
    if (!known) return std::string(missing(values[metric]));
    return std::to_string(info_of(metric).unit == MetricUnit::bytes ? smi_mebibytes(*known) : *known);
  };
  const auto id = [](std::optional<std::int64_t> known) { return known ? std::to_string(*known) : std::string("N/A"); };
  const auto with_unit = [&](Metric metric) { return number(metric) + (values.is_known(metric) ? "MiB" : ""); };
  const auto memory = [&](Metric used, Metric total) {
    return fmt::format("{:>19} /{:>9}    ", with_unit(used), with_unit(total));
  };
  fmt::format_to(std::back_inserter(out), "|{:>3}{:>5}{:>4}{:>4}  |{}|{:>3}{:>7} |{:>3}{:>4}{:>5}{:>5}{:>5} |\n",
                 gpu.index, id(mig.gpu_instance), id(mig.compute_instance), mig.index,
                 memory(M::memory_used, M::memory_total), number(M::mig_multiprocessors),
                 number(M::ecc_errors_uncorrected_volatile_sram), number(M::mig_copy_engines), number(M::mig_encoders),
                 number(M::mig_decoders), number(M::mig_ofas), number(M::mig_jpegs));
  fmt::format_to(std::back_inserter(out), "|{:18}|{}|{:11}|{:23}|\n", "", memory(M::bar1_used, M::bar1_total), "", "");
  out += kFiveCells;
}

void append_mig_devices(std::string& out, const std::vector<SmiGpuFacts>& gpus) {
  fmt::format_to(std::back_inserter(out), "\n+{:-<{}}+\n| MIG devices:{:{}}|\n", "", kWidth, "", kWidth - 13);
  out += kFiveCells;
  out += "| GPU  GI  CI  MIG |              Shared Memory-Usage |        Vol|        Shared         |\n";
  out += "|      ID  ID  Dev |                Shared BAR1-Usage | SM     Unc| CE ENC  DEC  OFA  JPG |\n";
  out += "|                  |                                  |        ECC|                       |\n";
  out += "|==================+==================================+===========+=======================|\n";
  bool has_any = false;
  for (const SmiGpuFacts& facts : gpus) {
    for (const DeviceSample* mig : facts.migs) append_mig(out, *facts.gpu, *mig);
    has_any = has_any || !facts.migs.empty();
  }
  if (has_any) return;
  append_line(out, "No MIG devices found");
  fmt::format_to(std::back_inserter(out), "+{:-<{}}+\n", "", kWidth);
}

void append_process(std::string& out, const SmiGpuFacts& facts, const DeviceProcess& process) {
  // A number ends one place before the words of a missing one.
  const auto id = [](std::optional<std::int64_t> known) { return known ? fmt::format("{} ", *known) : "N/A"; };
  const std::string name = printable(facts.process_name ? facts.process_name(process) : std::string());
  const std::string memory =
      process.used_bytes ? fmt::format("{}MiB ", smi_mebibytes(*process.used_bytes)) : std::string("N/A      ");
  fmt::format_to(std::back_inserter(out), "|{:>5}{:>6}{:>5}{:>16}{:>7}   {}{:>15}|\n", facts.gpu->index,
                 id(process.gpu_instance), id(process.compute_instance), process.pid, smi_process_type(process),
                 padded(cut_at_start(name, kProcessWidth), kProcessWidth), memory);
}

void append_processes(std::string& out, const std::vector<SmiGpuFacts>& gpus) {
  fmt::format_to(std::back_inserter(out), "\n+{:-<{}}+\n", "", kWidth);
  out += "| Processes:                                                                              |\n";
  out += "|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |\n";
  out += "|        ID   ID                                                               Usage      |\n";
  fmt::format_to(std::back_inserter(out), "|{:=<{}}|\n", "", kWidth);
  bool has_any = false;
  for (const SmiGpuFacts& facts : gpus) {
    for (const DeviceProcess* process : facts.processes) append_process(out, facts, *process);
    has_any = has_any || !facts.processes.empty();
  }
  if (!has_any) append_line(out, "No running processes found");
  fmt::format_to(std::back_inserter(out), "+{:-<{}}+\n", "", kWidth);
}

}  // namespace

void append_smi_summary(std::string& out, const SmiMachineFacts& machine, const std::vector<SmiGpuFacts>& gpus) {
  append_head(out, machine);
  bool has_mig = false;
  for (const SmiGpuFacts& facts : gpus) {
    append_gpu(out, *facts.gpu);
    has_mig = has_mig || facts.gpu->number(M::mig_mode_current) == 1;
  }
  if (has_mig) append_mig_devices(out, gpus);
  append_processes(out, gpus);
}

Wanted smi_summary_wanted() {
  Wanted wanted;
  wanted.metrics = mask_of({M::driver_version,
                            M::cuda_version,
                            M::name,
                            M::persistence_mode,
                            M::pci_bus_id,
                            M::display_active,
                            M::ecc_mode_current,
                            M::ecc_errors_uncorrected_volatile_total,
                            M::fan_speed,
                            M::temperature_gpu,
                            M::pstate,
                            M::power_draw,
                            M::enforced_power_limit,
                            M::memory_used,
                            M::memory_total,
                            M::utilization_gpu,
                            M::compute_mode,
                            M::mig_mode_current,
                            M::mig_mode_pending,
                            M::bar1_used,
                            M::bar1_total,
                            M::ecc_errors_uncorrected_volatile_sram,
                            M::mig_multiprocessors,
                            M::mig_copy_engines,
                            M::mig_encoders,
                            M::mig_decoders,
                            M::mig_ofas,
                            M::mig_jpegs});
  wanted.processes = true;
  return wanted;
}

}  // namespace vramscope
