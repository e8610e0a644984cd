// Errors of the memory itself (ECC), and rows or pages to be replaced.
#include "rules/memory_faults.h"
#include "text/catalogue.h"
#include "verdict_table.h"

namespace vramscope {

namespace {

void judge_device(const VerdictInput& input, const DeviceSample& device, std::vector<Verdict>& verdicts) {
  for (const MemoryFault& sign : memory_faults()) {
    if (device.number(sign.metric).value_or(0) <= 0) continue;
    Verdict verdict = about_device(input.sample, device, "memory-errors", sign.severity);
    Finding& finding = verdict.finding;
    finding.title = sign.title;
    finding.summary = N_("The memory of {name} reports faults of its own; programs are not the cause.");
    finding.fix = is_nvidias(device) ? sign.fix : sign.fix_elsewhere;
    const auto add = [&](const char* what, Metric metric) {
      if (const auto number = device.number(metric)) finding.evidence.push_back({what, count_value(*number), {}});
    };
    add(N_("uncorrected errors since the last reset"), Metric::ecc_errors_uncorrected_volatile_total);
    add(N_("uncorrected errors ever"), Metric::ecc_errors_uncorrected_aggregate_total);
    add(N_("corrected errors since the last reset"), Metric::ecc_errors_corrected_volatile_total);
    add(N_("rows replaced for uncorrected errors"), Metric::remapped_rows_uncorrectable);
    verdicts.push_back(std::move(verdict));
    return;
  }
}

void judge_all(const VerdictInput& input, std::vector<Verdict>& verdicts) {
  for (const DeviceSample& device : input.sample.devices()) judge_device(input, device, verdicts);
}

}  // namespace

VerdictRule verdict_memory_errors() {
  return {"memory-errors", N_("faults of the GPU's memory (ECC, rows, pages)"), judge_all};
}

}  // namespace vramscope
