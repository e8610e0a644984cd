// Faults of the memory itself: ECC, retired pages, remapped rows (docs/rules/ecc-errors.md).
#include <iterator>

#include "analysis/log_reading.h"
#include "base/saturate.h"
#include "rule_table.h"
#include "rules/arguments.h"
#include "rules/device_cases.h"
#include "rules/memory_faults.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr std::int64_t kManyCorrected = 1000;

struct Shown {
  Metric metric;
  const char* what;
};
constexpr Shown kShown[] = {
    {Metric::ecc_errors_uncorrected_volatile_total, N_("uncorrected errors since the last reset")},
    {Metric::ecc_errors_uncorrected_aggregate_total, N_("uncorrected errors ever")},
    {Metric::ecc_errors_corrected_volatile_total, N_("corrected errors since the last reset")},
    {Metric::remapped_rows_uncorrectable, N_("rows replaced for uncorrected errors")},
    {Metric::retired_pages_double_bit_count, N_("pages retired for uncorrected errors")},
    {Metric::remapped_rows_pending, N_("a row waits to be replaced (1: yes)")},
    {Metric::remapped_rows_failure, N_("a row could not be replaced (1: yes)")},
    {Metric::retired_pages_pending, N_("a page waits to be retired (1: yes)")},
};
// What was repaired, and stays told for the life of the card.
constexpr Metric kRepaired[] = {Metric::ecc_errors_uncorrected_aggregate_total, Metric::remapped_rows_uncorrectable,
                                Metric::retired_pages_double_bit_count};

std::int64_t most_of(const LogDevice& device, Metric metric) {
  const auto range = known_range(device, metric);
  return range ? range->most : 0;
}

void add_evidence(const LogDevice& device, DeviceCase& one) {
  for (const Shown& shown : kShown) {
    const auto range = known_range(device, shown.metric);
    if (range) one.evidence.push_back({shown.what, count_value(range->most), {}});
  }
  const auto range = known_range(device, Metric::ecc_errors_uncorrected_volatile_total);
  if (range && range->last > range->first) {
    one.evidence.push_back(
        {N_("uncorrected errors during the log"), count_value(saturating_sub(range->last, range->first)), {}});
  }
}

DeviceCase base_case(const LogDevice& device, std::size_t place, Severity severity) {
  DeviceCase one;
  one.device = place;
  one.severity = severity;
  one.confidence = 0.95;  // the card's own count
  one.badness = static_cast<double>(most_of(device, Metric::ecc_errors_uncorrected_volatile_total));
  one.summary = N_("The memory of {name} reports faults of its own; programs are not the cause.");
  add_evidence(device, one);
  return one;
}

bool add_fault(const DeviceLog& log, std::size_t place, std::vector<DeviceCase>& cases) {
  const LogDevice& device = log.devices[place];
  for (const MemoryFault& fault : memory_faults()) {
    const auto range = known_range(device, fault.metric);
    if (!range || range->most <= 0) continue;
    DeviceCase one = base_case(device, place, fault.severity);
    one.title = fault.title;
    one.fix = is_nvidias(log, place) ? fault.fix : fault.fix_elsewhere;
    one.seen = {range->most_moment, range->most_moment};
    cases.push_back(std::move(one));
    return true;
  }
  return false;
}

bool add_repaired(const LogDevice& device, std::size_t place, std::vector<DeviceCase>& cases) {
  bool is_repaired = false;
  for (const Metric metric : kRepaired) is_repaired = is_repaired || most_of(device, metric) > 0;
  if (!is_repaired) return false;
  DeviceCase one = base_case(device, place, Severity::info);
  one.title = N_("GPU {gpu}: its memory once had errors that could not be corrected");
  one.summary =
      N_("The memory of {name} had faults in its life; what was bad was taken out of use. None is told since "
         "the last reset.");
  one.fix = N_("Nothing now. If the counts rise, have the card replaced.");
  cases.push_back(std::move(one));
  return true;
}

void add_corrected(const LogDevice& device, std::size_t place, std::vector<DeviceCase>& cases) {
  if (most_of(device, Metric::ecc_errors_corrected_volatile_total) < kManyCorrected) return;
  DeviceCase one = base_case(device, place, Severity::info);
  one.title = N_("GPU {gpu}: many errors in its memory were corrected");
  one.summary =
      N_("ECC corrected every one of them, so results are right. A number that rises fast announces errors "
         "that cannot be corrected.");
  one.fix = N_("Look again in some days: `vramscope smi -q -d ECC` shows the counts.");
  cases.push_back(std::move(one));
}

bool tells_any(const LogDevice& device) {
  for (const MemoryFault& fault : memory_faults()) {
    if (known_range(device, fault.metric)) return true;
  }
  for (const Shown& shown : kShown) {
    if (known_range(device, shown.metric)) return true;
  }
  return false;
}

void check(Facts& facts, Verdicts& verdicts) {
  const DeviceLog& log = facts.device_log();
  std::vector<DeviceCase> cases;
  bool is_told = false;
  for (std::size_t place = 0; place < log.devices.size(); ++place) {
    const LogDevice& device = log.devices[place];
    is_told = is_told || tells_any(device);
    if (add_fault(log, place, cases) || add_repaired(device, place, cases)) continue;
    add_corrected(device, place, cases);
  }
  if (!is_told) {
    return skip(verdicts, N_("The log tells no counts of memory errors: the card has no ECC, it is off, or they were "
                             "not asked for."));
  }
  report_cases(log, std::move(cases), verdicts);
}

}  // namespace

Rule rule_ecc_errors() {
  return {"ecc-errors", N_("faults of the GPU's memory (ECC, rows, pages)"), check, Input::device_samples};
}

}  // namespace vramscope
