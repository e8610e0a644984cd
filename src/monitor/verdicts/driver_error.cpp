// The last Xid.
#include "rules/xid_meanings.h"
#include "text/catalogue.h"
#include "verdict_table.h"

namespace vramscope {

namespace {

void judge_all(const VerdictInput& input, std::vector<Verdict>& verdicts) {
  for (const DeviceSample& device : input.sample.devices()) {
    const DeviceHistory* history = history_of(input, device);
    std::optional<std::int64_t> xid = device.number(Metric::xid_last);
    if ((!xid || *xid <= 0) && history != nullptr) xid = history->xid_last;
    if (!xid || *xid <= 0 || device.parent) continue;
    const XidMeaning meaning = meaning_of_xid(*xid);
    Verdict verdict = about_device(input.sample, device, "driver-error", meaning.severity);
    Finding& finding = verdict.finding;
    finding.arguments.emplace_back("xid", text_value(std::to_string(*xid)));
    finding.title = N_("GPU {gpu}: the driver reported Xid {xid}");
    finding.summary = meaning.summary;
    finding.fix = N_("`sudo dmesg | grep -i xid` shows when and for which process.");
    finding.evidence.push_back({N_("last Xid"), text_value(std::to_string(*xid)), {}});
    verdicts.push_back(std::move(verdict));
  }
}

}  // namespace

VerdictRule verdict_driver_error() {
  return {"driver-error", N_("errors that the driver reported (Xid)"), judge_all};
}

}  // namespace vramscope
