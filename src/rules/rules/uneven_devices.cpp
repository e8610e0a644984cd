// GPUs of one job that work unevenly, or hold unevenly much memory (docs/rules/uneven-devices.md).
#include <algorithm>
#include <cmath>

#include "analysis/log_reading.h"
#include "analysis/memory_sums.h"
#include "base/saturate.h"
#include "rule_table.h"
#include "rules/arguments.h"
#include "rules/device_cases.h"
#include "rules/device_comparison.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr double kActive = 30;  // percent, mean of the job: then it works
constexpr double kIdle = 5;     // percent: those are told by idle-in-busy-job
constexpr double kUneven = 30;  // points of percent
constexpr std::size_t kFewestWindows = 4;
constexpr double kUnevenMemory = 0.3;  // of the highest
constexpr double kNearlyFull = 0.8;    // of what can be used: below it nobody needs the room

struct Load {
  std::size_t device = 0;
  double busy = 0;  // mean, percent
};

// The windows in which all of a job tell their utilisation and it works.
struct JobLoad {
  std::vector<Load> loads;  // least busy first
  std::int64_t weight = 0;
  std::size_t windows = 0, first = 0, last = 0;
};

JobLoad measure(const DeviceWindows& windows, const DeviceJob& job) {
  JobLoad found;
  for (const std::size_t device : job.devices) found.loads.push_back({device, 0});
  for (std::size_t i = 0; i < windows.weight.size(); ++i) {
    double sum = 0;
    bool is_told = true;
    for (const std::size_t device : job.devices) {
      is_told = is_told && windows.devices[device][i].weight > 0;
      sum += windows.devices[device][i].mean_busy;
    }
    if (!is_told || sum < kActive * static_cast<double>(job.devices.size())) continue;
    for (Load& load : found.loads) load.busy += windows.devices[load.device][i].mean_busy;
    found.weight = saturating_add(found.weight, windows.weight[i]);
    if (found.windows++ == 0) found.first = i;
    found.last = i;
  }
  for (Load& load : found.loads) load.busy /= std::max(1.0, static_cast<double>(found.windows));
  found.loads.erase(
      std::remove_if(found.loads.begin(), found.loads.end(), [](const Load& load) { return load.busy < kIdle; }),
      found.loads.end());
  std::sort(found.loads.begin(), found.loads.end(), [](const Load& a, const Load& b) { return a.busy < b.busy; });
  return found;
}

void add_load(Facts& facts, const DeviceJob& job, const JobLoad& found, std::vector<DeviceCase>& cases) {
  const DeviceLog& log = facts.device_log();
  const Load& least = found.loads.front();
  const Load& most = found.loads.back();
  DeviceCase one;
  one.device = least.device;
  one.severity = job.sign == JobSign::memory ? Severity::info : Severity::warning;
  one.confidence = confidence_of_job(job.sign) * confidence_from(static_cast<std::int64_t>(found.windows) / 2);
  one.badness = most.busy - least.busy;
  one.title = N_("GPU {gpu} has less to do than the others of its job");
  one.summary =
      N_("It is {least} % busy on average, GPU {most_gpu} {most} %. Where they wait for each other at every step, the "
         "busiest one decides how fast all are.");
  one.fix =
      N_("Divide the work evenly: the same batch size and sequence length on each rank, stages of the same cost, and "
         "torch.nn.parallel.DistributedDataParallel in place of DataParallel, which gathers on the first GPU.");
  one.arguments = {{"least", count_value(std::llround(least.busy))},
                   {"most", count_value(std::llround(most.busy))},
                   {"most_gpu", text_value(gpu_number(log, most.device))}};
  const DeviceWindows& windows = facts.device_windows();
  one.seen = {windows.first[found.first], windows.first[found.last + 1] - 1};
  one.evidence.push_back({N_("mean utilisation, percent"), count_value(std::llround(least.busy)), {}});
  one.evidence.push_back(
      {N_("mean utilisation of the busiest other GPU, percent"), count_value(std::llround(most.busy)), {}});
  one.evidence.push_back(looked_for(facts.log_weights(), found.weight));
  cases.push_back(std::move(one));
}

// Only of one process on all: ranks of their own may be of any size by design.
void add_memory(Facts& facts, const DeviceJob& job, std::vector<DeviceCase>& cases) {
  const DeviceLog& log = facts.device_log();
  std::vector<std::pair<std::int64_t, std::size_t>> used;
  for (const std::size_t device : job.devices) {
    const auto range = known_range(log.devices[device], Metric::memory_used);
    if (range) used.emplace_back(range->most, device);
  }
  if (used.size() < 2 || job.sign != JobSign::process) return;
  std::sort(used.begin(), used.end());
  const auto [least, least_device] = used.front();
  const auto [most, most_device] = used.back();
  const auto usable = usable_bytes(log.devices[most_device]);
  const auto high = static_cast<double>(most);
  if (!usable || high < kNearlyFull * static_cast<double>(*usable)) return;
  if (static_cast<double>(subtract_bytes(most, least)) < kUnevenMemory * high) return;
  DeviceCase one;
  one.device = most_device;
  one.severity = Severity::info;
  one.confidence = confidence_of_job(job.sign) * 0.7;
  one.badness = share_of_weight(subtract_bytes(most, least), most);
  one.title = N_("GPU {gpu} holds more memory than the others of its job");
  one.summary =
      N_("{most} are in use there, {least} on GPU {least_gpu}. The fullest one decides how large a batch may "
         "be.");
  one.fix =
      N_("Other ranks often open a context on the first GPU by mistake: call torch.cuda.set_device(local_rank) before "
         "anything else, and load checkpoints with map_location. DataParallel gathers on the first GPU; "
         "DistributedDataParallel does not.");
  one.arguments = {{"most", bytes_value(most)},
                   {"least", bytes_value(least)},
                   {"least_gpu", text_value(gpu_number(log, least_device))}};
  one.evidence.push_back({N_("most memory used"), bytes_value(most), {}});
  one.evidence.push_back({N_("most memory used on the other GPU"), bytes_value(least), {}});
  cases.push_back(std::move(one));
}

void check(Facts& facts, Verdicts& verdicts) {
  if (skip_without_comparison(facts, verdicts)) return;
  std::vector<DeviceCase> cases;
  for (const DeviceJob& job : facts.device_jobs().jobs) {
    const JobLoad found = measure(facts.device_windows(), job);
    const bool is_long = found.windows >= kFewestWindows && found.loads.size() > 1;
    if (is_long && found.loads.back().busy - found.loads.front().busy >= kUneven) {
      add_load(facts, job, found, cases);
    }
    add_memory(facts, job, cases);
  }
  report_cases(facts.device_log(), std::move(cases), verdicts);
}

}  // namespace

Rule rule_uneven_devices() {
  return {"uneven-devices", N_("GPUs of one job that work or hold unevenly much"), check, Input::device_samples};
}

}  // namespace vramscope
