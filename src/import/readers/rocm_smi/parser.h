#pragma once
// What rocm-smi prints: its short table in the layouts of ROCm 2 to 7, lines "GPU[0] : NAME: VALUE", the processes of
// --showpids, and --csv; and what `xpu-smi dump` prints.
#include <memory>
#include <string_view>

#include "import/readers/nvidia_smi/parser.h"

namespace vramscope::rocm_smi {

// Whether a line could stand in no other text.
bool is_rocm_line(std::string_view line);
bool is_rocm_csv_header(std::string_view line);
bool is_xpu_header(std::string_view line);

std::unique_ptr<nvidia_smi::Parser> rocm_parser(nvidia_smi::LogBuilder& log);
std::unique_ptr<nvidia_smi::Parser> xpu_parser(nvidia_smi::LogBuilder& log);

}  // namespace vramscope::rocm_smi
