// A GPU that does not answer any more.
#include "text/catalogue.h"
#include "verdict_table.h"

namespace vramscope {

namespace {

void judge_all(const VerdictInput& input, std::vector<Verdict>& verdicts) {
  for (const DeviceSample& device : input.sample.devices()) {
    if (!device.is_lost || device.parent) continue;
    Verdict verdict = about_device(input.sample, device, "gpu-lost", Severity::error);
    Finding& finding = verdict.finding;
    finding.title = N_("GPU {gpu} is lost");
    finding.summary = N_("{name} does not answer any more: it fell off the bus. What ran there has ended or hangs.");
    finding.fix =
        is_nvidias(device)
            ? N_("`sudo dmesg | grep -i xid` tells the driver's reason. Restart the machine; if it comes again, look "
                 "at "
                 "power, cooling and the slot, and have the card replaced.")
            : N_("`sudo dmesg | grep -i drm` tells the driver's reason, unless somebody unloaded it. Restart the "
                 "machine; if it comes again, look at power, cooling and the slot, and have the card replaced.");
    const DeviceHistory* history = history_of(input, device);
    if (history != nullptr && history->lost_since_ns && history->memory_used.last()) {
      finding.evidence.push_back({N_("lost for"), time_value(input.sample.time_ns - *history->lost_since_ns), {}});
    }
    const std::string_view bus = device.text(Metric::pci_bus_id);
    if (!bus.empty()) finding.evidence.push_back({N_("PCI address"), text_value(std::string(bus)), {}});
    verdicts.push_back(std::move(verdict));
  }
}

}  // namespace

VerdictRule verdict_lost() {
  return {"gpu-lost", N_("GPUs that do not answer"), judge_all};
}

}  // namespace vramscope
