#pragma once
// Every option that nvidia-smi has, and what becomes of it here.
#include <string_view>

namespace vramscope {

enum class SmiName {
  query_gpu,
  query_compute,
  query_accounted,
  help_gpu,
  help_compute,
  help_accounted,
  list,
  full_query,
  version,
  help,
  format,
  id,
  file,
  loop,
  loop_ms,
  delay,
  count,
  device,
  language,
  select,
  moment,
  xml,
  display,
  dtd,
  setting,
  not_here
};
enum class SmiTakes { nothing, value, maybe_number };

struct SmiOption {
  std::string_view short_name, long_name;
  SmiName name;
  SmiTakes takes;
};

// Null for a word that is no option. `of_table`: of dmon and pmon, which have their own.
const SmiOption* find_smi_option(std::string_view word, bool of_table);
// "topo", "nvlink": what nvidia-smi has besides dmon and pmon.
bool is_smi_subcommand(std::string_view word);

}  // namespace vramscope
