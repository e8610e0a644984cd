#include "rules/memory_faults.h"

#include <iterator>

#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr MemoryFault kFaults[] = {
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

}  // namespace

MemoryFaults memory_faults() {
  return {std::begin(kFaults), std::end(kFaults)};
}

}  // namespace vramscope
