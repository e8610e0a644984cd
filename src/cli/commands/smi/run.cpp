#include "cli/commands/smi/run.h"

#include <cstdio>

#include "cli/commands/smi/session.h"
#include "cli/driver_patience.h"
#include "cli/inputs.h"
#include "devices/backends/nvml/library.h"
#include "fmt/format.h"
#include "report/smi_query.h"
#include "report/smi_text.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr int kNoSuchObject = 6, kMismatch = 18;

int refuse(const Error& error) {
  if (error.driver_code == 0) return static_cast<int>(fail(error));
  std::fputs(error.message.c_str(), stdout);
  return error.driver_code;
}

std::optional<std::string> help_of(const SmiOptions& options) {
  switch (options.task) {
    case SmiTask::help:
      return smi_help();
    case SmiTask::dtd:
      return smi_dtd();
    case SmiTask::query_help:
      return smi_query_help(options.query);
    case SmiTask::device_table_help:
      return smi_device_table_help();
    case SmiTask::process_table_help:
      return smi_process_table_help();
    default:
      return std::nullopt;
  }
}

int could_not_start(const Error& error) {
  if (error.driver_code == 0) return static_cast<int>(fail(error));  // --device sim:WRONG
  const std::string library = error.driver_code == kMismatch ? nvml::library_version() : std::string();
  std::fputs(smi_start_error(error.driver_code, library).c_str(), stdout);
  return error.driver_code;
}

int run_task(SmiSession& session) {
  switch (session.options.task) {
    case SmiTask::summary:
      return run_smi_summary(session);
    case SmiTask::full_query:
      return run_smi_full_query(session);
    case SmiTask::query:
      return run_smi_query(session);
    case SmiTask::device_table:
      return run_smi_device_table(session);
    case SmiTask::process_table:
      return run_smi_process_table(session);
    default:
      break;
  }
  const std::vector<DeviceSample>& samples = session.sample({});
  if (session.options.task == SmiTask::version) {
    const DeviceSample& first = samples.front();
    std::string library(first.text(Metric::nvml_version));
    if (!library.empty()) library = nvml::library_version();
    const bool is_written = session.output.write(
        smi_version(first.text(Metric::driver_version), library, first.text(Metric::cuda_version)));
    return end_of_smi(session, is_written);
  }
  if (session.is_empty()) return kNoSuchGpu;
  return end_of_smi(session, session.output.write(smi_gpu_list(samples, session.chosen)));
}

}  // namespace

int run_smi(const std::vector<std::string>& arguments) {
  const Result<SmiOptions> options = parse_smi(arguments);
  if (!options) return refuse(options.error());
  SmiOutput output;
  if (!options->file.empty() && !output.open(options->file)) {
    return static_cast<int>(
        fail({ExitCode::usage, fmt::format(fmt::runtime(tr("{path} cannot be written; give -f another file.")),
                                           fmt::arg("path", options->file))}));
  }
  if (const auto help = help_of(*options)) return output.write(*help) || output.is_closed() ? 0 : 255;
  auto source = open_patient_devices(options->device, smi_end_signal);
  if (!source) return could_not_start(source.error());
  end_smi_loops_on_signals();
  SmiSession session(std::move(*source), *options, output);
  const int code = run_task(session);
  if (code == kNoSuchGpu) {
    std::fputs(smi_start_error(kNoSuchObject, {}).c_str(), stdout);
    return kNoSuchObject;
  }
  return code;
}

}  // namespace vramscope
