// Errors of the memory itself (ECC), and rows or pages to be replaced.
#include "text/catalogue.h"
#include "verdict_table.h"

namespace vramscope {

namespace {

struct Sign {
  Metric metric;
  Severity severity;
  const char* title;
  const char* fix;
  const char* fix_elsewhere;  // where NVIDIA's tools do not reach
};

// One verdict a device: the first that fits leads, the others are evidence.
constexpr Sign kSigns[] = {
    {Metric::remapped_rows_failure, Severity::error, N_("GPU {gpu}: a bad row of its memory could not be replaced"),
     N_("Take the card out of use and have it replaced."), N_("Take the card out of use and have it replaced.")},
    {Metric::ecc_errors_uncorrected_volatile_total, Severity::error,
     N_("GPU {gpu}: errors in its memory that could not be corrected"),
     N_("Results since the last reset may be wrong. End what runs there, reset the GPU (`sudo nvidia-smi --gpu-reset "
        "-i "
        "{gpu}`) and check whether they come again; then have the card replaced."),
     N_("Results since the driver was loaded may be wrong. End what runs there, restart the machine and check whether "
        "they come again; then have the card replaced.")},
    {Metric::remapped_rows_pending, Severity::warning, N_("GPU {gpu}: a row of its memory waits to be replaced"),
     N_("Reset the GPU when nothing runs there: `sudo nvidia-smi --gpu-reset -i {gpu}`."),
     N_("Reset the GPU or restart the machine when nothing runs there.")},
    {Metric::retired_pages_pending, Severity::warning, N_("GPU {gpu}: a page of its memory waits to be retired"),
     N_("Reset the GPU or restart the machine when nothing runs there."),
     N_("Reset the GPU or restart the machine when nothing runs there.")},
};

void judge_device(const VerdictInput& input, const DeviceSample& device, std::vector<Verdict>& verdicts) {
  for (const Sign& sign : kSigns) {
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
