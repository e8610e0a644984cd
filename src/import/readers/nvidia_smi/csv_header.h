#pragma once
// The header line of `nvidia-smi --query-gpu --format=csv`, of --query-compute-apps, and of home-made logs that imitate
// them. Pure; any text is safe.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/metric.h"

namespace vramscope::nvidia_smi {

enum class CsvRole : std::uint8_t {
  metric,
  time,
  date,  // with the time of day in a column of its own
  gpu_index,
  pid,
  process_name,
  used_memory,  // of a process
  unknown
};

struct CsvColumn {
  CsvRole role = CsvRole::unknown;
  Metric metric = Metric::index;  // of a metric
  std::string name;               // without its unit
  std::string unit;               // "MiB"; empty when the header promises none
};

struct CsvLayout {
  std::vector<CsvColumn> columns;
  char separator = ',';
  bool has_pid = false;
  bool is_other_query = false;  // --query-accounted-apps, --query-retired-pages: rows that are no samples

  const CsvColumn* find(CsvRole role) const;
  // Whether a whole row says which GPU it means.
  bool names_devices() const;
};

// Nullopt when the line is no such header: too few of its names are nvidia-smi's.
std::optional<CsvLayout> parse_csv_header(std::string_view line);
// The cells of a line, without quotes around them; a quoted cell may hold separators and line ends. `is_open`: a quote
// is not closed.
std::vector<std::string> split_cells(std::string_view line, char separator, bool* is_open = nullptr);
// Whether a line looks like a row of a log whose header is missing: a time as nvidia-smi writes it, then values with
// units.
bool is_headerless_row(std::string_view line);

}  // namespace vramscope::nvidia_smi
