#pragma once
// The table of `nvidia-smi` without options, as drivers 580 to 610 draw it on Linux. Never translated.
// Sources: tables of drivers 580.126, 590.48 and 595.71, of 610.43 and 610.57 for their first line, and of GPUs whose
// firmware had stopped (570 to 580) for its errors.
#include <string>
#include <vector>

#include "report/smi_query.h"

namespace vramscope {

void append_smi_summary(std::string& out, const SmiMachineFacts& machine, const std::vector<SmiGpuFacts>& gpus);
Wanted smi_summary_wanted();

}  // namespace vramscope
