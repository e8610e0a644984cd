// A GPU that does not answer any more (docs/rules/gpu-lost.md).
#include <algorithm>
#include <optional>

#include "rule_table.h"
#include "rules/arguments.h"
#include "rules/device_cases.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

// When a device was lost, and how many of its values told so.
struct Loss {
  std::uint32_t first = UINT32_MAX, last = 0;
  std::int64_t values = 0;
  bool is_last = false;  // it was so until the end of the log
};

std::optional<Loss> loss_of(const DeviceLog& log, const LogDevice& device) {
  Loss loss;
  for (const LogSeries& series : device.series) {
    for (std::size_t run = 0; run < series.moment.size(); ++run) {
      if (series.state[run] != ValueState::lost) continue;
      const bool is_end = run + 1 == series.moment.size();
      loss.first = std::min(loss.first, series.moment[run]);
      loss.last = std::max(loss.last, (is_end ? log.moments : series.moment[run + 1]) - 1);
      loss.is_last = loss.is_last || is_end;
      ++loss.values;
    }
  }
  return loss.values > 0 ? std::optional(loss) : std::nullopt;
}

DeviceCase case_of(const DeviceLog& log, std::size_t place, const Loss& loss) {
  DeviceCase one;
  one.device = place;
  one.severity = Severity::error;
  one.confidence = confidence_from(2 + loss.values);
  one.badness = static_cast<double>(loss.last - loss.first);
  one.title = loss.is_last ? N_("GPU {gpu} is lost") : N_("GPU {gpu} was lost for a time");
  one.summary = N_("{name} does not answer any more: it fell off the bus. What ran there has ended or hangs.");
  one.fix = is_nvidias(log, place)
                ? N_("`sudo dmesg | grep -i xid` tells the driver's reason. Restart the machine; if it comes again, "
                     "look at power, cooling and the slot, and have the card replaced.")
                : N_("`sudo dmesg | grep -i drm` tells the driver's reason, unless somebody unloaded it. Restart the "
                     "machine; if it comes again, look at power, cooling and the slot, and have the card replaced.");
  one.seen = {loss.first, loss.last};
  one.evidence.push_back({N_("values that the GPU no longer told"), count_value(loss.values), {}});
  return one;
}

void check(Facts& facts, Verdicts& verdicts) {
  const DeviceLog& log = facts.device_log();
  std::vector<DeviceCase> cases;
  bool is_told = false;
  for (std::size_t place = 0; place < log.devices.size(); ++place) {
    const LogDevice& device = log.devices[place];
    is_told = is_told || !device.series.empty();
    if (device.parent) continue;
    if (const auto loss = loss_of(log, device)) cases.push_back(case_of(log, place, *loss));
  }
  if (!is_told) return skip(verdicts, N_("The log tells no values of any GPU."));
  report_cases(log, std::move(cases), verdicts);
}

}  // namespace

Rule rule_gpu_lost() {
  return {"gpu-lost", N_("GPUs that do not answer"), check, Input::device_samples};
}

}  // namespace vramscope
