// Errors that the driver reported, by their numbers (docs/rules/xid-errors.md).
#include <set>
#include <string>

#include "analysis/log_reading.h"
#include "rule_table.h"
#include "rules/arguments.h"
#include "rules/device_cases.h"
#include "rules/xid_meanings.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

DeviceCase case_of(std::size_t place, std::int64_t xid, std::uint32_t moment) {
  const XidMeaning meaning = meaning_of_xid(xid);
  DeviceCase one;
  one.device = place;
  one.severity = meaning.severity;
  one.confidence = 0.95;  // the driver's own word
  one.badness = static_cast<double>(meaning.severity);
  one.title = N_("GPU {gpu}: the driver reported Xid {xid}");
  one.summary = meaning.summary;
  one.fix = N_("`sudo dmesg | grep -i xid` shows when and for which process.");
  one.arguments = {{"xid", text_value(std::to_string(xid))}};
  one.seen = {moment, moment};
  one.evidence.push_back({N_("Xid"), text_value(std::to_string(xid)), {}});
  return one;
}

void check(Facts& facts, Verdicts& verdicts) {
  const DeviceLog& log = facts.device_log();
  bool is_told = false;
  std::vector<DeviceCase> cases;
  for (std::size_t place = 0; place < log.devices.size(); ++place) {
    const LogSeries* series = series_of(log.devices[place], Metric::xid_last);
    if (series == nullptr || log.devices[place].parent) continue;
    std::set<std::int64_t> told;
    for (std::size_t run = 0; run < series->moment.size(); ++run) {
      if (series->state[run] != ValueState::known) continue;
      is_told = true;
      const std::int64_t xid = series->value[run];
      if (xid > 0 && told.insert(xid).second) cases.push_back(case_of(place, xid, series->moment[run]));
    }
  }
  if (!is_told) {
    return skip(verdicts,
                N_("Logs of nvidia-smi do not tell Xids; a recording of `vramscope watch --record` does, and so does "
                   "`sudo dmesg | grep -i xid`."));
  }
  // Different numbers with one meaning are different findings.
  for (DeviceCase& one : cases) report_cases(log, {std::move(one)}, verdicts);
}

}  // namespace

Rule rule_xid_errors() {
  return {"xid-errors", N_("errors that the driver reported (Xid)"), check, Input::device_samples};
}

}  // namespace vramscope
