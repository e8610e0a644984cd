#include "report/smi_text.h"

#include "fmt/format.h"
#include "report/smi_csv.h"
#include "report/smi_field_text.h"

namespace vramscope {

namespace {

// "NVIDIA H100 80GB HBM3 MIG 3g.40gb" is the MIG profile 3g.40gb.
std::string_view profile_of(std::string_view name) {
  constexpr std::string_view kMark = "MIG ";
  const std::size_t at = name.rfind(kMark);
  return at == name.npos ? name : name.substr(at + kMark.size());
}

void append_names(std::string& out, std::string_view name, std::string_view aliases) {
  fmt::format_to(std::back_inserter(out), "\"{}\"", name);
  while (!aliases.empty()) {
    const std::size_t end = aliases.find('|');
    fmt::format_to(std::back_inserter(out), " or \"{}\"", aliases.substr(0, end));
    aliases = end == aliases.npos ? std::string_view() : aliases.substr(end + 1);
  }
  out += '\n';
}

}  // namespace

std::string smi_gpu_list(const std::vector<DeviceSample>& samples, const std::vector<std::size_t>& chosen) {
  std::string out;
  for (const std::size_t place : chosen) {
    const DeviceSample& gpu = samples[place];
    fmt::format_to(std::back_inserter(out), "GPU {}: {} (UUID: {})\n", gpu.index, gpu.text(Metric::name),
                   gpu.text(Metric::uuid));
    for (const DeviceSample& mig : samples) {
      if (!mig.parent || static_cast<std::size_t>(*mig.parent) != place) continue;
      fmt::format_to(std::back_inserter(out), "  MIG {:<12}Device {:>2}: (UUID: {})\n",
                     profile_of(mig.text(Metric::name)), mig.index, mig.text(Metric::uuid));
    }
  }
  return out;
}

std::string smi_version(std::string_view driver, std::string_view library, std::string_view cuda) {
  const auto known = [](std::string_view text) { return text.empty() ? std::string_view("N/A") : text; };
  return fmt::format(
      "NVIDIA-SMI version  : {}\nNVML version        : {}\nDRIVER version      : {}\nCUDA Version        : {}\n",
      known(driver), known(library), known(driver), known(cuda));
}

std::string_view smi_process_type(const DeviceProcess& process) {
  if (process.type == ProcessType::graphics) return "G";
  if (process.type == ProcessType::compute_and_graphics) return "C+G";
  return process.is_mps ? "M+C" : "C";
}

std::string smi_start_error(int code, std::string_view library) {
  switch (code) {
    case 6:
      return "No devices were found\n";
    case 9:
      return "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest "
             "NVIDIA driver is installed and running.\n\n";
    case 12:
      return "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that the NVIDIA "
             "Display "
             "Driver is properly installed and present in your system.\n"
             "Please also try adding directory that contains libnvidia-ml.so to your system PATH.\n";
    case 18:
      return fmt::format("Failed to initialize NVML: {}\n{}", smi_code_words(code),
                         library.empty() ? std::string() : fmt::format("NVML library version: {}\n", library));
    default:
      return fmt::format("Failed to initialize NVML: {}\n", smi_code_words(code));
  }
}

std::string smi_device_error(int index, int code) {
  return fmt::format(
      "Unable to determine the device handle for GPU{}: {}\n", index,
      code == 15 ? std::string_view("GPU is lost.  Reboot the system to recover this GPU") : smi_code_words(code));
}

std::string smi_field_error(std::string_view field) {
  return fmt::format("Field \"{}\" is not a valid field to query.\n\n", field);
}

std::string smi_option_error(std::string_view option) {
  return fmt::format("ERROR: Option {} is not recognized. Please run 'nvidia-smi -h' for help.\n\n", option);
}

std::string smi_query_help(SmiQuery query) {
  constexpr std::string_view kSwitches[] = {"--query-gpu", "--query-compute-apps", "--query-accounted-apps"};
  std::string out = fmt::format("List of valid properties to query for the switch \"{}\":\n\n",
                                kSwitches[static_cast<std::size_t>(query)]);
  if (query != SmiQuery::gpu) {
    for (const SmiAppField& field : smi_app_fields(query)) {
      append_names(out, field.name, field.alias);
      (out += field.about) += "\n\n";
    }
    return out;
  }
  for (const MetricInfo& info : metric_table()) {
    if (info.print == SmiPrint::none) continue;
    append_names(out, info.name, info.aliases);
    (out += smi_field_text(info.id)) += "\n\n";
  }
  return out;
}

std::string smi_help() {
  return R"(vramscope smi: what scripts ask of nvidia-smi, with its options, output and exit codes.

usage: vramscope smi [-i GPU,…] [-l SECONDS] [-f FILE]
       vramscope smi -q [-d SECTION,… | -x [--dtd]] [-i GPU,…] [-l SECONDS] [-f FILE]
       vramscope smi --query-gpu=FIELD,… --format=csv [-i GPU,…] [-l SECONDS] [-f FILE]
       vramscope smi --query-compute-apps=FIELD,… --format=csv
       vramscope smi --query-accounted-apps=FIELD,… --format=csv
       vramscope smi -L
       vramscope smi dmon | pmon [OPTIONS]

  no option                     the table of GPUs, MIG devices and processes
  -q,   --query                 everything that is known of each GPU
  -d,   --display=              of -q these sections alone: MEMORY, UTILIZATION, ECC, TEMPERATURE, POWER, CLOCK,
                                COMPUTE, PIDS, PERFORMANCE, SUPPORTED_CLOCKS, PAGE_RETIREMENT, ACCOUNTING,
                                ENCODER_STATS, SUPPORTED_GPU_TARGET_TEMP, VOLTAGE, FBC_STATS, ROW_REMAPPER,
                                GSP_FIRMWARE_VERSION, POWER_SMOOTHING, POWER_PROFILES
  -x,   --xml-format            -q as XML
        --dtd                   the type of that document: in it, or without -q alone
  -L,   --list-gpus             GPUs and their MIG devices, with UUIDs
        --query-gpu=            values of each GPU; --help-query-gpu lists the fields
        --query-compute-apps=   processes that compute now; --help-query-compute-apps
        --query-accounted-apps= processes that the driver keeps account of; --help-query-accounted-apps
        --format=csv[,noheader][,nounits]
  -i,   --id=                   these GPUs alone: indexes, serial numbers, UUIDs or PCI bus ids, parted by commas
  -f,   --filename=             write to this file
  -l,   --loop=                 again every so many seconds (5), until interrupted
  -lms, --loop-ms=              again every so many milliseconds
  dmon                          a line a GPU every second; vramscope smi dmon -h
  pmon                          a line a process every second; vramscope smi pmon -h
        --device                sim:NAME: a scenario in place of GPUs (vramscope alone)
        --version               versions of the driver and its library
  -h,   --help                  this text

What is wrong with GPUs: vramscope status. Settings of a GPU are not changed here.
Exit codes: 0 ok, 2 wrong usage, 4 no permission, 6 no such GPU, 9 driver not loaded, 12 driver's library missing,
15 GPU lost, 18 driver and library of different versions, 255 other.
)";
}

std::string smi_device_table_help() {
  return R"(vramscope smi dmon: a line a GPU, again and again.

  -i, --id=        these GPUs alone, parted by commas
  -d, --delay=     seconds between samples (1)
  -c, --count=     so many samples, then end
  -s, --select=    columns, in this order (puc): p power and temperatures, u utilisation, c clocks,
                   v throttling by power and heat, m memory, e ECC and PCIe errors, t PCIe traffic
  -o, --options=   D date, T time in front of each line
  -f, --filename=  write to this file
      --format     csv[,noheader][,nounit]
  -h, --help       this text
)";
}

std::string smi_process_table_help() {
  return R"(vramscope smi pmon: a line a process on a GPU, again and again.

  -i, --id=        these GPUs alone, parted by commas
  -d, --delay=     seconds between samples (1)
  -c, --count=     so many samples, then end
  -s, --select=    columns, in this order (u): u utilisation, m memory
  -o, --options=   D date, T time in front of each line
  -f, --filename=  write to this file
  -h, --help       this text
)";
}

}  // namespace vramscope
