#pragma once
// What rocm-smi and xpu-smi call a value, as a metric. Pure.
// Sources: output quoted in issues of ROCm/ROC-smi, ROCm/legacy-rocm-build and ROCm/rocm-systems (ROCm 2.9 to 7.0);
// Intel's documentation of `xpu-smi dump`.
#include <optional>
#include <string>
#include <string_view>

#include "model/metric.h"

namespace vramscope::rocm_smi {

struct Field {
  std::string_view name;  // lower case
  Metric metric = Metric::index;
  std::string_view unit;  // of numbers without one
};

// Of a line "GPU[0] : NAME: VALUE" or a column of --csv; nullptr when no metric is meant. "NAME" in any case.
const Field* rocm_field(std::string_view name);
// Of a column of the short table: "SCLK".
const Field* rocm_column(std::string_view name);
// Of a column of `xpu-smi dump`.
const Field* xpu_field(std::string_view name);
// Without blanks around it and a colon behind it, in lower case.
std::string plain_name(std::string_view name);
// What stands for the value: "1: (852Mhz)" is 852Mhz, "n/a" and "unsupported" are N/A.
std::string_view plain_value(std::string_view value);

}  // namespace vramscope::rocm_smi
