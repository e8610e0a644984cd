// A GPU that does not answer any more, or needs a reset (docs/rules/gpu-lost.md).
#include <algorithm>
#include <optional>

#include "rule_table.h"
#include "rules/arguments.h"
#include "rules/device_cases.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr std::int64_t kResetRequired = 16;  // NVML_ERROR_RESET_REQUIRED in NVIDIA's nvml.h

// When a device gave no answers for one reason, and how many of its values told so.
struct Loss {
  std::uint32_t first = UINT32_MAX, last = 0;
  std::int64_t values = 0;
  bool is_last = false;  // it was so until the end of the log
};

template <typename IsLost>
std::optional<Loss> loss_of(const DeviceLog& log, const LogDevice& device, const IsLost& is_lost) {
  Loss loss;
  for (const LogSeries& series : device.series) {
    for (std::size_t run = 0; run < series.moment.size(); ++run) {
      if (!is_lost(series, run)) continue;
      const bool is_end = run + 1 == series.moment.size();
      loss.first = std::min(loss.first, series.moment[run]);
      loss.last = std::max(loss.last, (is_end ? log.moments : series.moment[run + 1]) - 1);
      loss.is_last = loss.is_last || is_end;
      ++loss.values;
    }
  }
  return loss.values > 0 ? std::optional(loss) : std::nullopt;
}

bool is_gone(const LogSeries& series, std::size_t run) {
  return series.state[run] == ValueState::lost;
}

// Its values say so, or the driver names what would bring it back (0: nothing is needed).
bool needs_reset(const LogSeries& series, std::size_t run) {
  if (series.metric == Metric::gpu_recovery_action) {
    return series.state[run] == ValueState::known && series.value[run] > 0;
  }
  return series.state[run] == ValueState::failed && series.value[run] == kResetRequired;
}

DeviceCase base_case(std::size_t place, const Loss& loss) {
  DeviceCase one;
  one.device = place;
  one.severity = Severity::error;
  one.confidence = confidence_from(2 + loss.values);
  one.badness = static_cast<double>(loss.last - loss.first);
  one.seen = {loss.first, loss.last};
  return one;
}

DeviceCase lost_case(const DeviceLog& log, std::size_t place, const Loss& loss) {
  DeviceCase one = base_case(place, loss);
  one.title = loss.is_last ? N_("GPU {gpu} is lost") : N_("GPU {gpu} was lost for a time");
  one.summary = N_("{name} does not answer any more: it fell off the bus. What ran there has ended or hangs.");
  one.fix = is_nvidias(log, place)
                ? N_("`sudo dmesg | grep -i xid` tells the driver's reason. Restart the machine; if it comes again, "
                     "look at power, cooling and the slot, and have the card replaced.")
                : N_("`sudo dmesg | grep -i drm` tells the driver's reason, unless somebody unloaded it. Restart the "
                     "machine; if it comes again, look at power, cooling and the slot, and have the card replaced.");
  one.evidence.push_back({N_("values that the GPU no longer told"), count_value(loss.values), {}});
  return one;
}

DeviceCase reset_case(std::size_t place, const Loss& loss) {
  DeviceCase one = base_case(place, loss);
  one.title = N_("GPU {gpu} needs a reset");
  one.summary =
      N_("The driver has given up {name} until it is reset. New programs fail there, and memory that is still "
         "told as in use is held by nobody.");
  one.fix =
      N_("End what still has the device open, then `sudo nvidia-smi --gpu-reset -i {gpu}`, or restart the machine. "
         "`sudo dmesg | grep -i xid` tells the driver's reason.");
  one.evidence.push_back({N_("values that say so"), count_value(loss.values), {}});
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
    if (const auto loss = loss_of(log, device, is_gone)) {
      cases.push_back(lost_case(log, place, *loss));
    } else if (const auto trouble = loss_of(log, device, needs_reset)) {
      cases.push_back(reset_case(place, *trouble));
    }
  }
  if (!is_told) return skip(verdicts, N_("The log tells no values of any GPU."));
  report_cases(log, std::move(cases), verdicts);
}

}  // namespace

Rule rule_gpu_lost() {
  return {"gpu-lost", N_("GPUs that do not answer"), check, Input::device_samples};
}

}  // namespace vramscope
