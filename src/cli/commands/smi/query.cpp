// --query-gpu, --query-compute-apps, --query-accounted-apps.
#include "cli/commands/smi/process_name.h"
#include "cli/commands/smi/session.h"
#include "report/smi_csv.h"

namespace vramscope {

namespace {

std::string rows_of(SmiSession& session, const SmiRows& rows, const std::vector<DeviceSample>& samples) {
  const std::string timestamp = smi_timestamp(smi_unix_ns());
  std::string out;
  for (const std::size_t place : session.chosen) {
    // The list is made anew when MIG devices come and go.
    if (place >= samples.size() || samples[place].parent) continue;
    const DeviceSample& gpu = samples[place];
    switch (rows.query) {
      case SmiQuery::gpu:
        append_smi_gpu_row(out, rows, gpu, timestamp);
        break;
      case SmiQuery::compute_apps:
        append_smi_compute_rows(out, rows, gpu, timestamp, [&](const DeviceProcess& process) {
          return smi_process_name(*session.source, process);
        });
        break;
      case SmiQuery::accounted_apps: {
        const auto processes = session.source->accounted(place);
        if (processes) append_smi_accounted_rows(out, rows, gpu, timestamp, *processes);
        break;
      }
    }
  }
  return out;
}

}  // namespace

int run_smi_query(SmiSession& session) {
  const SmiOptions& options = session.options;
  const SmiRows rows{options.query, options.columns, options.with_units};
  const Wanted wanted = smi_wanted(options.query, options.columns);
  std::string out;
  std::int64_t due_ns = smi_monotonic_ns();
  for (bool is_first = true;; is_first = false) {
    const std::vector<DeviceSample>& samples = session.sample(wanted);
    if (session.is_empty()) return kNoSuchGpu;
    out.clear();
    if (is_first && options.with_header) append_smi_header_line(out, rows.query, rows.columns);
    out += rows_of(session, rows, samples);
    if (!session.output.write(out)) return end_of_smi(session, false);
    if (!options.interval_ns) return end_of_smi(session, true);
    due_ns += *options.interval_ns;
    if (!wait_for_smi(due_ns)) return 0;
  }
}

}  // namespace vramscope
