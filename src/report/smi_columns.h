#pragma once
// The columns of nvidia-smi's CSV: which names there are, and what the header says. Never translated.
// Source: `nvidia-smi --help-query-…` and its output, drivers 550 to 595.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "devices/backend.h"

namespace vramscope {

enum class SmiQuery { gpu, compute_apps, accounted_apps };

enum class SmiValue {
  of_gpu,  // SmiColumn::metric
  pid,
  process_name,
  used_memory,
  vgpu_instance,
  gpu_utilization,
  memory_utilization,
  max_memory,
  time
};

struct SmiColumn {
  SmiValue value = SmiValue::of_gpu;
  Metric metric = Metric::timestamp;
};

// A name of a query about processes.
struct SmiAppField {
  std::string_view name, alias;  // the header has `name`, whichever was asked for
  SmiColumn column;
  std::string_view unit;
  std::string_view about;
};
const std::vector<SmiAppField>& smi_app_fields(SmiQuery query);

// Whole and in its case; nullopt for a name that nvidia-smi does not know.
std::optional<SmiColumn> smi_column(SmiQuery query, std::string_view name);
// "name, memory.used [MiB]" and a newline.
void append_smi_header_line(std::string& out, SmiQuery query, const std::vector<SmiColumn>& columns);
// What must be fetched for them.
Wanted smi_wanted(SmiQuery query, const std::vector<SmiColumn>& columns);

}  // namespace vramscope
