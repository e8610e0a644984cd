// Memory of a device that keeps growing in a log or a recording, and when it is full
// (docs/rules/device-memory-growth.md).
#include <string>

#include "rule_table.h"
#include "rules/arguments.h"
#include "rules/device_cases.h"
#include "text/catalogue.h"
#include "text/utf8.h"

namespace vramscope {

namespace {

constexpr std::int64_t kShortestNs = 600'000'000'000;  // what GrowthWatch needs to be certain

Severity severity_of(const LogGrowth& growth) {
  if (growth.has_filled && !growth.is_last) return Severity::error;
  if (!growth.until_full_ns) return Severity::warning;
  if (*growth.until_full_ns <= kSoonFullNs) return Severity::error;
  return *growth.until_full_ns > kFarAwayNs ? Severity::info : Severity::warning;
}

const char* title_of(const LogGrowth& growth) {
  if (growth.has_filled && !growth.is_last) return N_("GPU {gpu}: memory grew until it was full");
  if (growth.until_full_ns) return N_("GPU {gpu}: memory keeps growing and is full {left} after the end of the log");
  return growth.is_last ? N_("GPU {gpu}: memory keeps growing")
                        : N_("GPU {gpu}: memory grew for as long as the process ran");
}

std::string process_text(const LogProcess& process) {
  return (process.name.empty() ? "pid" : printable(process.name)) + " " + std::to_string(process.pid);
}

DeviceCase case_of(const DeviceLog& log, const LogGrowth& found) {
  constexpr double kNsOfAnObservation = 600e9;
  const Growth& growth = found.growth;
  DeviceCase one;
  one.device = found.device;
  one.severity = severity_of(found);
  one.confidence =
      0.95 * confidence_from(1 + static_cast<std::int64_t>(static_cast<double>(growth.grown_ns) / kNsOfAnObservation));
  one.badness = growth.bytes_per_hour;
  one.title = title_of(found);
  one.summary = found.process
                    ? N_("{process} has grown by {grown} within {since} and does not fall back: {rate}.")
                    : N_("The memory in use has grown by {grown} within {since} and does not fall back: {rate}.");
  one.fix =
      N_("Record its memory history (torch.cuda.memory._record_memory_history() at the start, "
         "torch.cuda.memory._dump_snapshot() after a while) and read it with `vramscope memory SNAPSHOT`: it "
         "names the line that allocates what stays.");
  one.arguments = {{"grown", bytes_value(growth.grown_bytes)},
                   {"since", time_value(growth.grown_ns)},
                   {"rate", bytes_per_hour(growth.bytes_per_hour)}};
  if (found.process) one.arguments.emplace_back("process", text_value(process_text(log.processes[*found.process])));
  if (found.until_full_ns) one.arguments.emplace_back("left", time_value(*found.until_full_ns));
  one.seen = {found.first, found.last};
  one.evidence.push_back({N_("growth"), bytes_per_hour(growth.bytes_per_hour), {}});
  one.evidence.push_back({N_("lowest memory at its beginning"), bytes_value(growth.from_bytes), {}});
  one.evidence.push_back({N_("grown by"), bytes_value(growth.grown_bytes), {}});
  one.evidence.push_back({N_("grown within"), time_value(growth.grown_ns), {}});
  if (found.until_full_ns) {
    one.evidence.push_back({N_("time until the memory is full"), time_value(*found.until_full_ns), {}});
  }
  return one;
}

void check(Facts& facts, Verdicts& verdicts) {
  const DeviceLog& log = facts.device_log();
  if (!facts.log_weights().has_time) {
    return skip(verdicts, N_("The log has no times, so how fast memory grows cannot be told; log with times "
                             "(--query-gpu=timestamp,…, dmon -o DT)."));
  }
  const LogGrowths& growths = facts.log_growth();
  if (!growths.tells_memory) return skip(verdicts, N_("The log does not tell memory in use."));
  if (growths.span_ns < kShortestNs) {
    return skip(verdicts, N_("The log covers {time}; growth is judged from {needed} on."),
                {{"time", time_value(growths.span_ns)}, {"needed", time_value(kShortestNs)}});
  }
  std::vector<DeviceCase> cases;
  for (const LogGrowth& found : growths.found) cases.push_back(case_of(log, found));
  report_cases(log, std::move(cases), verdicts);
}

}  // namespace

Rule rule_device_memory_growth() {
  return {"device-memory-growth", N_("memory of a GPU that keeps growing, and when it is full"), check,
          Input::device_samples};
}

}  // namespace vramscope
