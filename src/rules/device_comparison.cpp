#include "rules/device_comparison.h"

#include <algorithm>

#include "analysis/log_reading.h"
#include "rules/arguments.h"
#include "rules/device_cases.h"
#include "text/catalogue.h"

namespace vramscope {

double confidence_of_job(JobSign sign) {
  switch (sign) {
    case JobSign::process:
      return 0.9;
    case JobSign::name:
      return 0.7;
    case JobSign::memory:
      break;
  }
  return 0.4;
}

bool skip_without_comparison(Facts& facts, Verdicts& verdicts) {
  const DeviceLog& log = facts.device_log();
  const DeviceJobs& jobs = facts.device_jobs();
  const auto told = std::count_if(log.devices.begin(), log.devices.end(), [](const LogDevice& device) {
    return !device.parent && known_range(device, Metric::utilization_gpu).has_value();
  });
  if (jobs.gpus < 2) {
    skip(verdicts, N_("It compares the GPUs of one job, and the log tells of one GPU."));
  } else if (jobs.is_of_many_machines) {
    skip(verdicts, N_("Two GPUs in the log have the same number, so it is of several machines; give one log of each."));
  } else if (told < 2) {
    skip(verdicts, N_("The log does not tell the utilisation of two GPUs or more."));
  } else if (facts.device_windows().weight.empty()) {
    skip_too_short(facts, verdicts);
  } else {
    return false;
  }
  return true;
}

}  // namespace vramscope
