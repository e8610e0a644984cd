#pragma once
// Which metric stands where in `nvidia-smi -q` and `-q -x`, of all driver generations. Sources: the output of drivers
// 384 to 595.
#include <optional>
#include <string>
#include <string_view>

#include "model/metric.h"

namespace vramscope::nvidia_smi {

// A name of -q as the XML would have it: "FB Memory Usage" is "fb_memory_usage".
std::string path_name(std::string_view name);
// The metric at a path below a GPU ("fb_memory_usage/used"), in the XML's names or those that path_name() makes.
std::optional<Metric> metric_at(std::string_view path);
// The same below a MIG device ("shared_fb_memory_usage/used").
std::optional<Metric> mig_metric_at(std::string_view path);

}  // namespace vramscope::nvidia_smi
