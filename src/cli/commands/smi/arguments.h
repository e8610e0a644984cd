#pragma once
// nvidia-smi's command line, which is not of the usual kind: "-lms" is one option, "--loop" and "--loop=5" are both
// fine.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/smi_columns.h"
#include "report/smi_monitor.h"
#include "report/smi_tree.h"

namespace vramscope {

enum class SmiTask {
  summary,
  full_query,
  dtd,
  query,
  list,
  device_table,
  process_table,
  version,
  help,
  query_help,
  device_table_help,
  process_table_help
};

struct SmiOptions {
  SmiTask task = SmiTask::help;
  SmiQuery query = SmiQuery::gpu;
  std::vector<SmiColumn> columns;
  bool is_xml = false, with_dtd = false;  // of a full query
  SmiDisplays displays = 0;               // its sections; 0: all
  bool with_header = true, with_units = true;
  std::vector<std::string> ids;             // of -i; empty: every GPU
  std::optional<std::int64_t> interval_ns;  // again after so long
  std::optional<std::int64_t> count;        // so many samples
  std::string file;                         // empty: stdout
  std::string device = "nvml";
  SmiTable table;
};

// `arguments`: what follows the program's name or `smi`. The Error is either a sentence of ours, or, with a
// driver_code, nvidia-smi's own text, which goes to stdout with that exit code.
Result<SmiOptions> parse_smi(const std::vector<std::string>& arguments);

}  // namespace vramscope
