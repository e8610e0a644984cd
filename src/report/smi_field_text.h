#pragma once
// What each field of --query-gpu means. Never translated, as nvidia-smi's own help is not.
#include <string>

#include "model/metric.h"

namespace vramscope {

std::string smi_field_text(Metric metric);

}  // namespace vramscope
