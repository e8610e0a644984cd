// dmon and pmon.
#include <algorithm>

#include "cli/commands/smi/process_name.h"
#include "cli/commands/smi/session.h"
#include "report/smi_monitor.h"

namespace vramscope {

namespace {

// The header comes again after so many rows, wherever that is.
constexpr std::size_t kRowsOfPage = 44;

class Page {
 public:
  Page(const SmiTable& table, std::string header) : table_(table), header_(std::move(header)) {}
  void before_row(std::string& out) {
    if (rows_ == 0 || (rows_ % kRowsOfPage == 0 && !table_.is_csv)) out += header_;
    ++rows_;
  }

 private:
  const SmiTable& table_;
  std::string header_;
  std::size_t rows_ = 0;
};

// Calls `rows(out, samples)` for each sample, as often as -c says.
template <typename Rows>
int run_table(SmiSession& session, const Wanted& wanted, Rows rows) {
  const SmiOptions& options = session.options;
  std::int64_t due_ns = smi_monotonic_ns();
  std::string out;
  for (std::int64_t number = 1;; ++number) {
    const std::vector<DeviceSample>& samples = session.sample(wanted);
    if (session.is_empty()) return kNoSuchGpu;
    out.clear();
    rows(out, samples);
    if (!session.output.write(out)) return end_of_smi(session, false);
    if (options.count && number >= *options.count) return end_of_smi(session, true);
    due_ns += options.interval_ns.value_or(0);
    if (!wait_for_smi(due_ns)) return 0;
  }
}

struct CountersAt {
  ThrottleCounters counters;
  std::int64_t time_ns = 0;
};

}  // namespace

int run_smi_device_table(SmiSession& session) {
  const SmiTable& table = session.options.table;
  const Wanted wanted = device_table_wanted(table);
  Page page(table, device_table_header(table));
  std::vector<CountersAt> before;  // by place
  const auto note = [&](const std::vector<DeviceSample>& samples) {
    before.resize(samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) before[i] = {throttle_counters(samples[i]), smi_monotonic_ns()};
  };
  if (table.groups.find('v') != table.groups.npos) {
    note(session.sample(wanted));
    constexpr std::int64_t kFirstSpan = 100'000'000;
    if (!wait_for_smi(smi_monotonic_ns() + kFirstSpan)) return 0;
  }
  return run_table(session, wanted, [&](std::string& out, const std::vector<DeviceSample>& samples) {
    const std::int64_t unix_ns = smi_unix_ns();
    for (const std::size_t place : session.chosen) {
      if (place >= samples.size()) continue;
      Throttled throttled;
      if (place < before.size()) {
        throttled = throttled_between(before[place].counters, throttle_counters(samples[place]),
                                      smi_monotonic_ns() - before[place].time_ns);
      }
      page.before_row(out);
      append_device_row(out, table, samples[place], throttled, unix_ns);
    }
    if (!before.empty()) note(samples);
  });
}

int run_smi_process_table(SmiSession& session) {
  const SmiTable& table = session.options.table;
  const Wanted wanted = process_table_wanted(table);
  Page page(table, process_table_header(table));
  std::vector<const DeviceProcess*> sorted;
  return run_table(session, wanted, [&](std::string& out, const std::vector<DeviceSample>& samples) {
    const std::int64_t unix_ns = smi_unix_ns();
    for (const std::size_t place : session.chosen) {
      if (place >= samples.size()) continue;
      const DeviceSample& gpu = samples[place];
      sorted.clear();
      for (const DeviceProcess& process : gpu.processes) sorted.push_back(&process);
      std::stable_sort(sorted.begin(), sorted.end(),
                       [](const DeviceProcess* a, const DeviceProcess* b) { return a->pid < b->pid; });
      if (sorted.empty()) sorted.push_back(nullptr);
      for (const DeviceProcess* process : sorted) {
        page.before_row(out);
        std::string name = process == nullptr ? "-" : smi_process_name(*session.source, *process);
        if (name[0] == '[') name = "-";  // not found, or no permission
        append_process_row(out, table, gpu, process, name, unix_ns);
      }
    }
  });
}

}  // namespace vramscope
